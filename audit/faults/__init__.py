"""Find what is wrong with a refuted subject.

Rules name the fault from recorded runs on the simplest pair. The package imports from `words` and `verdict`.
`utility` and `privacy` import from it. A fault explains a verdict and never changes it. The process that
examines a subject imports only `examiner` and the modules that it needs.
"""
