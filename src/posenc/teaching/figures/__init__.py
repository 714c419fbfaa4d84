"""The figures of the chapters, one module for each chapter."""
