from gradekit.nbgrader_plugin import configure

c = get_config()  # noqa: F821  (nbgrader provides it)

c.CourseDirectory.course_id = "transformers"
c.Execute.timeout = 20  # CPU seconds for one cell of a submission
c.RunChecks.call_timeout = 5  # CPU seconds for one call of a student's function
c.RunChecks.memory_limit = 2048  # MiB for one student kernel
trains = {"preload": ["import torch._dynamo"]}  # the first optimizer imports it, which takes a second
c.RunChecks.per_assignment = {
    "05_seq2seq": trains,
    "06_text_recovery": trains,
    "07_inside_pretrained": trains,
    "08_modern": trains,
    "09_heads": trains,
    "10_after_pretraining": trains,
}
# 10 % of the points for each day late; c.LatePenalty has per_day, at_most and grace_minutes
# c.AssignLatePenalties.plugin_class = "gradekit.nbgrader_plugin.late.LatePenalty"

configure(c)
