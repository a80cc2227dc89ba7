"""How a subject is copied in this process, and found again or pickled for another one."""
