"""What models call the 16 categories, in English and Chinese, and which one a text names.

``simulator.core.intentions`` holds the names that papers use; these are what models write when they were asked to copy
a name and did not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from agents.base import spoken
from simulator.core.intentions import ALIASES, INTENTIONS, canonical

__all__ = ["MORE", "last_mentioned", "read_intention"]

MORE: dict[str, tuple[str, ...]] = {
    "Information Lookup": ("information search", "information seeking", "info lookup", "web search",
                           "search for information", "looking up information",
                           "信息查询", "信息检索", "信息查找", "资料查询", "查找信息", "搜索信息"),
    "Knowledge Q&A": ("knowledge q and a", "knowledge question answering", "question answering", "knowledge questions",
                      "q&a", "知识问答", "知识答疑", "问答", "问题解答"),
    "Data Analysis": ("data analytics", "data processing", "analyzing data", "数据分析", "数据处理"),
    "Coding/Programming": ("coding and programming", "coding & programming", "software development", "code writing",
                           "code generation", "code", "编程", "代码编写", "编码", "代码", "程序设计", "写代码"),
    "Content Generation": ("content writing", "text generation", "writing", "内容生成", "内容创作", "文本生成", "写作"),
    "Advice/Consultation": ("advice and consultation", "advice & consultation", "consulting", "recommendation",
                            "recommendations", "建议咨询", "咨询建议", "建议", "咨询"),
    "Summarization": ("summarisation", "summarizing", "summarising", "text summarization",
                      "总结", "摘要", "归纳", "概括"),
    "Document Editing": ("document edit", "editing", "text editing", "proofreading", "document revision",
                         "文档编辑", "文档修改", "文本编辑", "润色"),
    "Comparison/Evaluation": ("comparison and evaluation", "comparison & evaluation", "compare", "evaluate",
                              "比较评估", "对比评估", "比较", "对比", "评估", "评价"),
    "Translation": ("translate", "translating", "language translation", "翻译", "语言翻译"),
    "Creative Design": ("creative", "design", "graphic design", "创意设计", "设计"),
    "Format Conversion": ("file conversion", "converting formats", "conversion", "格式转换", "文件转换"),
    "Mathematical Calculation": ("math calculation", "mathematics", "math", "maths", "calculation", "数学计算", "计算"),
    "Uncategorized": ("uncategorised", "other", "others", "miscellaneous", "未分类", "其他", "其它"),
    "Functional Testing": ("functionality testing", "function testing", "testing", "功能测试", "测试"),
    "Error Correction": ("error fixing", "error correction and debugging", "debugging", "debug", "bug fixing",
                         "troubleshooting", "错误纠正", "错误修正", "纠错", "错误修复", "调试", "排错"),
}  # fmt: skip
"""Other names by category. One that is a single word, or two Chinese letters, counts only where a category is asked
for.
"""

_WHOLE = {name.casefold(): of for of, names in MORE.items() for name in names}
_AROUND = " \t\r\n.,;:!?\"'`*_#()[]{}<>“”‘’「」『』【】《》。，；：！？、-–—|"


def read_intention(text: str, intentions: Sequence[str]) -> str | None:
    """The intention that an answer names where it was asked for one, by the name in use; None where it names none.

    >>> read_intention("**[coding & programming]**", INTENTIONS), read_intention("翻译", INTENTIONS)
    ('Coding/Programming', 'Translation')
    """
    word = text.strip(_AROUND)
    if not word:
        return None
    folded = " ".join(word.casefold().replace(" / ", "/").split())
    for name in intentions:
        if folded == name.casefold():
            return name
    known = canonical(word) or _WHOLE.get(folded)
    if known is not None:
        return _in_use(known, intentions)
    return last_mentioned(text, intentions)


def last_mentioned(text: str, intentions: Sequence[str]) -> str | None:
    """The intention that is named last in running text, by its name or a name that nobody uses for anything else."""
    found: str | None = None
    for match in _names(tuple(intentions)).finditer(text.casefold()):
        found = _meant(match[0], tuple(intentions)) or found
    return found


def _in_use(category: str, intentions: Sequence[str]) -> str | None:
    """A category by the name it has in this run; None where the run does not know it."""
    if not intentions:
        return category
    name = spoken(category, intentions)
    return name if name in intentions else None


@lru_cache(maxsize=64)
def _meant(folded: str, intentions: tuple[str, ...]) -> str | None:
    plain = " ".join(folded.replace(" / ", "/").split())
    for name in intentions:
        if plain == name.casefold():
            return name
    known = canonical(plain) or _WHOLE.get(plain)
    return None if known is None else _in_use(known, intentions)


@lru_cache(maxsize=64)
def _names(intentions: tuple[str, ...]) -> re.Pattern[str]:
    """All names by which an intention is known for certain, the longest first, whole words in Latin script."""
    plain = {name.casefold() for name in (*INTENTIONS, *intentions) if name.strip()}
    plain |= {
        name for name in (*ALIASES, *_WHOLE) if " " in name or "/" in name or (len(name) > 2 and not name.isascii())
    }
    ordered = sorted(plain, key=lambda name: (-len(name), name))
    return re.compile("|".join(_whole_word(name) for name in ordered))


def _whole_word(name: str) -> str:
    found = re.escape(name).replace("\\ ", r"\s+").replace("/", r"\s?/\s?")
    before = r"(?<!\w)" if name[0].isascii() and name[0].isalnum() else ""
    after = r"(?!\w)" if name[-1].isascii() and name[-1].isalnum() else ""
    return before + found + after
