"""Words of a text, and how many edits lie between two lists of them."""

import re


def words_of(text):
    return re.sub(r"[^\w' ]", "", text.lower()).split()


def edit_distance(first, second):
    """Levenshtein's distance."""
    previous = list(range(len(second) + 1))
    for row, one in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            current.append(
                min(
                    previous[column] + 1,
                    current[-1] + 1,
                    previous[column - 1] + (one != other),
                )
            )
        previous = current
    return previous[-1]
