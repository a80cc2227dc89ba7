"""What is wrong with a refuted subject: recorded runs on the simplest pair, and rules that name the fault.

Above `words` and `verdict`; below `utility` and `privacy`. A fault explains a verdict and never changes it.
The process that examines a subject imports only `examiner` and what that needs.
"""
