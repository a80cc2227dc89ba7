"""Find what is wrong with a refuted subject.

Rules name the fault from recorded runs on the simplest pair. A fault explains a verdict and never changes it.
The package imports from `words` and `verdict`; `utility` and `privacy` import from it. The process that
examines a subject imports only `examiner` and what that needs.
"""
