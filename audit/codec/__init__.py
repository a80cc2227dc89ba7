"""One codec: Python values as tagged JSON and back, the files that hold it, and the readers of saved fields.

Above `values`, errors and claims; below everything that is saved. The toolkit's own classes register
themselves (`encoding.register`).
"""
