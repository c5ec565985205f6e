"""Hand in from an LMS by LTI 1.3: `gradekit lti` takes uploads, shows pages and sends grades; `gradekit watch --lti` grades."""
