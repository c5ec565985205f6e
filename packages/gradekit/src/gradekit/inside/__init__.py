"""What runs inside the student's kernel: the texts of these modules are sent there. They import nothing else of gradekit."""
