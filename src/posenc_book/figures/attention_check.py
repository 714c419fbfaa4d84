"""The figure of the page that asks whether one's attention is right."""

from collections.abc import Mapping, Sequence

from posenc_book.teaching import plots


def curves(losses: Mapping[str, Sequence[float]]) -> None:
    """Show how the losses of two models fall.

    Parameters
    ----------
    losses : mapping from a model to its loss at each step
    """
    figure, ax = plots.new(height=2.6, width=5.4)
    for name, loss in losses.items():
        ax.plot(loss, label=name)
    ax.set(xlabel="step", ylabel="loss", ylim=(0, None))
    ax.legend()
    plots.show(
        figure,
        name="fig-attention-check",
        caption="The losses of two models that are trained with the same letters. One has a "
        "fault in its attention.",
        alt="Two curves of loss against training step. Both fall to nearly zero, one some steps "
        "earlier than the other.",
    )
