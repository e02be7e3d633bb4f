"""What files say, where that is to choose them: "invoices where I wrote PAID inside". No name bears it out;
offering all of them would leave it aside.
"""

from __future__ import annotations

import re
from dataclasses import replace

from libs.models.offline.gist.story import Story
from libs.retrieval.words import words

SAYS = re.compile(
    r"\b(?:(?:where|which|that)\s+(?:(?:it|i|we|there|he|she|they)\s+)?(?:says?|wrote|mentions?|contains?|(?:have\s+|has\s+|is\s+)?written)"
    r"|with\s+(?:the\s+)?(?:text|words?|phrase)|contain(?:s|ing)?(?:\s+the)?(?:\s+(?:word|text))?"
    r"|where\s+(?:is\s+)?(?:the\s+)?word"
    r"|(?:wo|in\s+denen|in\s+der|in\s+dem)\s+(?=(?:[^\W\d_]+\s+){0,3}?(?:drin\s?)?steht)|(?:die|das|der)\s+(?=[^\W\d_]+\s+enth[aä]lt)"
    r"|mit\s+dem\s+(?:text|wort)|donde\s+(?:pone|dice|escrib[ií])|en\s+(?:l[oa]s?|el)\s+que\s+(?:pone|dice)"
    r"|que\s+(?:ponen?|pongan?|dicen?|digan?|contienen?|contengan?)|con\s+(?:el\s+texto|la\s+palabra))\s+",
    re.IGNORECASE,
)
AFTER = 3
"""Words after it, of which one is what they say."""


def chosen_by(story: Story) -> bool:
    """Does the story tell of words in files, which none of their names has?"""
    return any(not _in_names(story, found.end()) for found in SAYS.finditer(story.text))


def _in_names(story: Story, at: int) -> bool:
    told = [word for word in words(story.text[at:]) if not word.filler][:AFTER]
    plain = (replace(word, concepts=(), filler=False) for word in told)
    return any(story.having(word, story.ground.paths or ()) for word in plain)
