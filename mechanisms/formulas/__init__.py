"""The mechanisms' laws and sizes, written from the texts alone: nothing here imports a mechanism.

Every function takes a subject, reads its parameters but calls none of its methods, and returns `Formulas`.
"""
