"""Equal definitions, and questions that can be answered: the third edition.

`sets` names the data, `hybrids`, `convtran` and the library are what is trained, `questions` and
`claims` say what is asked of which, `planned` computes from edition 2 what can be answered,
`measured` and `budget` what that costs, `protocol` holds the rules and `page` writes them down.

trained by   `__main__`, set by set; `gpu` what is too long for a processor
rules        results/edition-3/protocol.md, from `protocol`
stored in    results/edition-3
read by      `reading`
shown in     book/asked-again.ipynb, by `figure`, `tables` and `words`
"""
