"""Windows of anomalies: small and large rows of the DFT and sinusoidal encodings."""
