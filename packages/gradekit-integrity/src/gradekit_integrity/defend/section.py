"""What a feedback page asks its student: the entry point `gradekit.page_sections` names `questions_for`."""

from nbformat import NotebookNode

from gradekit.course import Assignment
from gradekit.course.cells import grade_id
from gradekit.course.course_time import CourseTime


def questions_for(
    assignment: Assignment, student: str, name: str, notebook: NotebookNode, clock: CourseTime
) -> str:
    """The part of the page of the notebook `name`, as HTML; empty without questions about the code on the page."""
    from gradekit_integrity.defend.pages import section_as_html
    from gradekit_integrity.defend.proving import code_hash
    from gradekit_integrity.defend.records import key_path, read_key

    if not key_path(assignment).exists():
        return ""
    sheet = read_key(assignment).latest().get(student)
    if sheet is None or sheet.questions[0].notebook != name:
        return ""
    sources = {(name, str(grade_id(cell))): cell.source for cell in notebook.cells if grade_id(cell)}
    present = {f"{book}/{cell}": code_hash(source) for (book, cell), source in sources.items()}
    if any(present.get(place) != asked for place, asked in sheet.code.items()):
        return ""
    return section_as_html(sheet, sources, clock.in_words(sheet.due) if sheet.due else "")
