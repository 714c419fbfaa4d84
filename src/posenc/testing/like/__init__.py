"""A layer beside what a configuration says of it.

`listening` hears each attention while a module runs; `hearing` runs it with tokens that are chosen
for that. From what was heard, `turning` reads pairs and frequencies, `scoring` the scale,
`distances` slopes and buckets, `sight` windows and sinks, `tables` the rows of a table. Where one
differs, `suspects` and their like in each file say what mistake explains it; `fault` holds that.
"""
