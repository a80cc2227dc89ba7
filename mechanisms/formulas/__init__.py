"""Laws and sizes of the mechanisms, written from the source texts alone.

Functions that return `Formulas` take a mechanism and read its parameters, but call none of its methods.
"""
