"""What goes wrong."""


class HopwiseError(Exception):
    """Something was not done. The text is a sentence, `kind` a word for programs."""

    def __init__(self, kind: str, sentence: str):
        super().__init__(sentence)
        self.kind = kind
