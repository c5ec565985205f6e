"""How well `gradekit similar` finds copies, in classes of students who answer independently of each other."""
