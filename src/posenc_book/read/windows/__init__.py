"""Windows of anomalies: small and large rows of the DFT and sinusoidal encodings.

Windows are cut by `posenc_book.data.windows`; these short trainings have no protocol of their own.

trained by   posenc bench run, by `posenc_book.bench.train`
stored in    results/windows-*.jsonl
read by      `read`
shown in     book/anomaly-windows.ipynb
"""
