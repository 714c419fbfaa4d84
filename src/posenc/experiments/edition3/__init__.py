"""Equal definitions, and questions that can be answered: the third edition, a draft.

`sets` names the data, `deals` halves them, `hybrids` and the library are the encodings,
`questions` says what is asked of which, `planned` computes from edition 2 what can be answered,
`budget` what that costs. `page` writes it down. Nothing is trained before the protocol is frozen.

trained by   nothing yet; the cells are those of `questions`
rules        results/edition-3/protocol.md, from `protocol`
stored in    results/edition-3
read by      `page`
"""
