"""Every rule of the checks: its code, what it says is wrong, and what to write.

No message stands anywhere else. A problem names a rule by its code and gives the
facts that its texts leave open; the reader's locale chooses the language. Codes
stay: P pages, T twins, S snippets, F any file, R records, X retired recipes.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ERROR, WARNING = "error", "warning"
SEPARATOR = {"en": "; ", "zh": "；"}
WARNINGS_FOLLOW = {
    "en": "warnings, which fail nothing:",
    "zh": "警告（不算失败）：",
}
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts


@dataclass(frozen=True)
class Rule:
    """A rule, in format strings over the facts of a problem.

    A warning is listed and fails nothing.
    """

    code: str
    en: tuple[str, str]  # what is wrong, what to write instead
    zh: tuple[str, str]
    severity: str = ERROR

    def texts(self, lang: str, facts: Mapping[str, object]) -> list[str]:
        """What is wrong and what to write instead, with the facts in place."""
        return [text.format_map(facts) for text in getattr(self, lang)]


@dataclass(frozen=True)
class Problem:
    """One fault: where it is, which rule it breaks, and the rule's facts."""

    path: Path
    line: int
    code: str
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def is_error(self) -> bool:
        return RULES[self.code].severity == ERROR

    def __str__(self) -> str:
        lang = reader_language()
        message = SEPARATOR[lang].join(RULES[self.code].texts(lang, self.facts))
        return f"{self.path}:{self.line}: {self.code} {message}"


def report(problems: Iterable[Problem]) -> int:
    """Print the problems, warnings last; how many errors there are."""
    problems = list(problems)
    # What stops the build is found by two checks: said once.
    errors = dict.fromkeys(str(problem) for problem in problems if problem.is_error)
    warnings = [problem for problem in problems if not problem.is_error]
    for problem in errors:
        print(f"  {problem}")
    if warnings:
        print(WARNINGS_FOLLOW[reader_language()])
    for problem in warnings:
        print(f"  {problem}")
    return len(errors)


def reader_language() -> str:
    """Chinese where the locale is, else English."""
    locale = next(filter(None, map(os.environ.get, LOCALE)), "")
    return "zh" if locale.startswith("zh") else "en"


GROUPS = {
    "P1": {"en": "Front matter", "zh": "页首元数据"},
    "P2": {"en": "Blocks and their marks", "zh": "代码块与标记"},
    "P3": {"en": "Headings, prose and links", "zh": "小节标题、正文与链接"},
    "P4": {"en": "Names and places of pages", "zh": "页面的名称与位置"},
    "T1": {"en": "The two languages", "zh": "中英文两页"},
    "S1": {"en": "Text of a snippet", "zh": "代码文件的书写"},
    "S2": {"en": "Code of a snippet", "zh": "代码文件的内容"},
    "S3": {"en": "What belongs to a snippet", "zh": "代码文件的配套文件"},
    "F1": {"en": "Any file", "zh": "所有文件"},
    "R1": {"en": "Records of runs", "zh": "运行记录"},
    "X1": {"en": "Retired recipes", "zh": "停用的条目"},
}

_TABLE = (
    # P1: front matter
    Rule(
        "P101",
        en=(
            "no front matter",
            "begin the page with title, description and aliases between ---",
        ),
        zh=(
            "缺少页首元数据",
            "在页面开头的两行 --- 之间写上 title、description 和 aliases",
        ),
    ),
    Rule(
        "P102",
        en=(
            "the front matter is not YAML ({reason})",
            "quote values that hold a colon",
        ),
        zh=("页首元数据不是合法的 YAML（{reason}）", "给含有冒号的值加上引号"),
    ),
    Rule(
        "P103",
        en=(
            "the front matter is not a mapping",
            "begin the page with title, description and aliases between ---",
        ),
        zh=(
            "页首元数据不是键值对",
            "在页面开头的两行 --- 之间写上 title、description 和 aliases",
        ),
    ),
    Rule(
        "P104",
        en=("unknown front matter key {key}", "remove it; known are {known}"),
        zh=("页首元数据中有未知的键 {key}", "删掉它；可用的键有 {known}"),
    ),
    Rule(
        "P105",
        en=("{key} stands on the English page, for both languages", "remove it here"),
        zh=("{key} 只写在英文页，两种语言共用", "从本页删掉"),
    ),
    Rule(
        "P106",
        en=("no {key}", "write {key}: … in the front matter"),
        zh=("缺少 {key}", "在页首元数据中写上 {key}: …"),
    ),
    Rule(
        "P107",
        en=(
            "no aliases",
            "list the words people search for, and the errors they paste",
        ),
        zh=("缺少 aliases", "列出读者会搜索的词，以及会粘贴的报错信息"),
    ),
    Rule(
        "P108",
        en=(
            "{key} is not a list of words",
            "write {key}: [a, b], in quotes where a word holds a colon",
        ),
        zh=("{key} 不是词的列表", "写成 {key}: [a, b]，含有冒号的词要加引号"),
    ),
    Rule(
        "P109",
        en=(
            "the description is not one sentence",
            "say when to use it, and when not, in one sentence ending in {end}",
        ),
        zh=(
            "description 不是一句话",
            "用一句以“{end}”结尾的话说明什么时候用、什么时候不用",
        ),
    ),
    Rule(
        "P110",
        en=("related: no other recipe {slug}", "name an existing slug"),
        zh=("related：没有名为 {slug} 的其他条目", "写一个已有条目的 slug"),
    ),
    Rule(
        "P111",
        en=(
            "covers: {slug} has a page",
            "cover only tasks that have no page of their own",
        ),
        zh=("covers：{slug} 已有页面", "只列没有独立页面的任务"),
    ),
    Rule(
        "P112",
        en=(
            "no answer",
            "write answer: | and below it the one to eight lines of the page's code "
            "that the reader came for",
        ),
        zh=("缺少 answer", "写上 answer: |，下面放读者最需要的一到八行代码"),
    ),
    Rule(
        "P113",
        en=("the answer has {count} lines", "choose at most {limit} of them"),
        zh=("answer 有 {count} 行", "最多选 {limit} 行"),
    ),
    Rule(
        "P114",
        en=(
            "a line of the answer is not in the code, or not in this order: {text}",
            "copy the lines from the page's blocks, from top to bottom",
        ),
        zh=(
            "answer 中有一行不在代码里，或顺序不同：{text}",
            "从本页的代码块中自上而下原样复制",
        ),
    ),
    Rule(
        "P115",
        en=(
            "the answer by itself is no code ({reason})",
            "take whole statements; a loop with a line of its body",
        ),
        zh=("answer 单独不成代码（{reason}）", "选取完整的语句；循环要带上循环体"),
    ),
    Rule(
        "P116",
        en=(
            "unknown shape {shape}",
            "write shape: program, or leave it out: calls and helpers are recognised",
        ),
        zh=("未知的 shape：{shape}", "只能写 shape: program，其他形式会自动识别"),
    ),
    # P2: blocks and their marks
    Rule(
        "P201",
        en=(
            "no block that runs",
            'show a snippet: ```python with --8<-- "<category>/<file>.py"',
        ),
        zh=(
            "没有可运行的代码块",
            '引入一个代码文件：```python 内写 --8<-- "<category>/<file>.py"',
        ),
    ),
    Rule(
        "P202",
        en=(
            "not an include: {text}",
            'write --8<-- "<category>/<file>.py", a whole file below snippets/',
        ),
        zh=(
            "引入的写法不对：{text}",
            '写成 --8<-- "<category>/<file>.py"，即 snippets/ 下的整个文件',
        ),
    ),
    Rule(
        "P203",
        en=(
            "no snippet {file}",
            'write --8<-- "<category>/<file>.py", a whole file below snippets/',
        ),
        zh=(
            "没有代码文件 {file}",
            '写成 --8<-- "<category>/<file>.py"，即 snippets/ 下的整个文件',
        ),
    ),
    Rule(
        "P204",
        en=(
            "Python typed into a page",
            'put it into a file and write only --8<-- "<category>/<file>.py"',
        ),
        zh=(
            "页面里直接写了 Python 代码",
            '把代码放进文件，页面上只写 --8<-- "<category>/<file>.py"',
        ),
    ),
    Rule(
        "P205",
        en=(
            "an include outside a ```python block",
            "include snippets there alone; their output follows by itself",
        ),
        zh=(
            "引入语句不在 ```python 代码块内",
            "只在那里引入代码文件，输出会自动跟在后面",
        ),
    ),
    Rule(
        "P206",
        en=(
            "a block of ```{language} would be shown but not run",
            "write ```python, ```bash, ```text or ```pytb and nothing else",
        ),
        zh=(
            "```{language} 代码块会显示，但不会运行",
            "只写 ```python、```bash、```text 或 ```pytb，后面不加别的内容",
        ),
    ),
    Rule(
        "P207",
        en=("a fence that is not closed", "close it with ``` at the left margin"),
        zh=("代码块没有结束", "在行首写 ``` 结束它"),
    ),
    Rule(
        "P208",
        en=(
            "a code block outside a recipe would be shown but not run",
            "move it to a recipe's page",
        ),
        zh=("条目以外的代码块会显示，但不会运行", "把它移到某个条目的页面"),
    ),
    Rule(
        "P209",
        en=(
            "Python in a block of ```{language} would be shown but not run",
            "put it into a file and include that; text is for output and messages",
        ),
        zh=(
            "```{language} 块里的 Python 代码会显示，但不会运行",
            "把代码放进文件再引入；文本块只用于输出和报错信息",
        ),
    ),
    Rule(
        "P211",
        en=(
            "unknown mark {mark}",
            "write <!--pytest.mark.gpu--> or "
            '<!--pytest.mark.skip(reason="…")-->, or remove it',
        ),
        zh=(
            "未知的标记 {mark}",
            "写成 <!--pytest.mark.gpu--> 或 "
            '<!--pytest.mark.skip(reason="…")-->，否则删掉',
        ),
    ),
    Rule(
        "P212",
        en=(
            "a mark that belongs to no block",
            "put it on the line before the opening fence",
        ),
        zh=("标记不属于任何代码块", "把它放在代码块开头 ``` 的前一行"),
    ),
    Rule(
        "P213",
        en=(
            "a mark on a block of text",
            "remove it; only ```python and ```bash blocks run",
        ),
        zh=("文本块上有标记", "删掉它；只有 ```python 和 ```bash 代码块会运行"),
    ),
    Rule(
        "P214",
        en=(
            "{command} needs the network; a block runs without",
            "say it in the text, or put "
            '<!--pytest.mark.skip(reason="…")--> on the line before the block',
        ),
        zh=(
            "{command} 需要联网，而代码块必须离线运行",
            '改在正文中说明，或在代码块的前一行写 <!--pytest.mark.skip(reason="…")-->',
        ),
    ),
    Rule(
        "P215",
        en=("a message that says nothing", "quote it word for word, as Type: text"),
        zh=("报错信息是空的", "原样写出来，格式为 Type: text"),
    ),
    Rule(
        "P221",
        en=(
            "blocks of code: {shown} on the site, {run} collected; of text: "
            "{passive} on the site, {quoted} collected",
            "write every block as a ``` fence at the left margin, outside "
            "comments, quotes and lists, without a title or options",
        ),
        zh=(
            "代码块：网站显示 {shown} 个，收集到 {run} 个；"
            "文本块：网站显示 {passive} 个，收集到 {quoted} 个",
            "每个代码块都用顶格的 ``` 书写，不放在注释、引用或列表里，不加标题或选项",
        ),
    ),
    Rule(
        "P222",
        en=("shown otherwise than run", "copying must yield what runs:\n{difference}"),
        zh=("显示的代码与运行的不同", "复制到的必须就是运行的代码：\n{difference}"),
    ),
    Rule(
        "P223",
        en=(
            "the site shows {shown}, which the checks do not see",
            "write ## Heading {{#id}}, [text](target) or ![what it shows](file)",
        ),
        zh=(
            "网站上有 {shown}，但检查读不到",
            "写成 ## 标题 {{#id}}、[文字](目标) 或 ![图片内容](文件)",
        ),
    ),
    # P3: headings, prose and links
    Rule(
        "P301",
        en=(
            "a heading of level 1",
            "remove it; the site shows the front matter's title",
        ),
        zh=("出现了一级标题", "删掉它；网站会显示页首元数据里的 title"),
    ),
    Rule(
        "P302",
        en=(
            "a heading without an id",
            "write ## Heading {{#id}}, the same id in both languages",
        ),
        zh=("小节标题没有 id", "写成 ## 标题 {{#id}}，中英文两页用同一个 id"),
    ),
    Rule(
        "P303",
        en=("the id {id} stands twice", "choose another"),
        zh=("id {id} 出现了两次", "换一个"),
    ),
    Rule(
        "P304",
        en=(
            "the link {target} leads nowhere",
            "link to a file that exists, relative to this one",
        ),
        zh=("链接 {target} 指向的文件不存在", "用相对本文件的路径链接到已有的文件"),
    ),
    Rule(
        "P305",
        en=("{page} has no heading #{anchor}", "link to an id that stands there"),
        zh=("{page} 中没有 #{anchor}", "链接到那里已有的 id"),
    ),
    Rule(
        "P306",
        en=(
            "an image without a description",
            "write ![what it shows](file), for readers who do not see it",
        ),
        zh=("图片没有文字说明", "写成 ![图片内容](文件)，供看不到图片的读者使用"),
    ),
    Rule(
        "P307",
        en=("{html} is HTML", "write Markdown, which is all that the checks read"),
        zh=("{html} 是 HTML", "用 Markdown 书写，检查只读 Markdown"),
    ),
    Rule(
        "P308",
        en=(
            "{address} would be loaded from another site",
            "put the file below docs/ and name it relative to this page; only a "
            "link may lead elsewhere",
        ),
        zh=(
            "页面会从其他网站加载 {address}",
            "把文件放到 docs/ 下，用相对本页的路径引用；只有链接可以指向别处",
        ),
    ),
    Rule(
        "P309",
        en=(
            "{count} pitfalls",
            "keep the {limit} that readers meet most often, and put other messages "
            "into the table under ## Other messages {{#messages}}",
        ),
        zh=(
            "有 {count} 个常见问题",
            "保留最常见的 {limit} 个，其他放进 ## 其他报错 {{#messages}} 下的表格",
        ),
    ),
    Rule(
        "P310",
        en=(
            'the heading "{text}" says nothing that a reader sees',
            "head a pitfall by the message, or by what happens",
        ),
        zh=("标题“{text}”没有说出读者看到的现象", "用报错信息或现象作标题"),
    ),
    Rule(
        "P311",
        en=(
            'not in Chinese: "{text}"',
            "translate it; put names of code between backticks",
        ),
        zh=("没有翻译成中文：“{text}”", "翻译这段文字；代码中的名称放在反引号之间"),
    ),
    Rule(
        "P312",
        en=(
            'not in English: "{text}"',
            "write it in English, and in Chinese on the Chinese page",
        ),
        zh=("英文页上有中文：“{text}”", "改用英文，中文写到中文页"),
    ),
    Rule(
        "P313",
        en=(
            "{word} is not the term for {en}",
            "write {zh}, the term of docs/glossary.yml",
        ),
        zh=(
            "“{word}”不是 {en} 的统一译名",
            "写成“{zh}”，以 docs/glossary.yml 为准",
        ),
    ),
    Rule(
        "P314",
        en=("Chinese characters in code: {code}", "write it as it can be pasted"),
        zh=("代码里有汉字：{code}", "改成可以直接粘贴的写法，例如 src、dst"),
    ),
    # P4: names and places of pages
    Rule(
        "P401",
        en=(
            "unknown category {category}",
            "add it to docs/categories.yml, or move the page",
        ),
        zh=("未知的分类 {category}", "把它加进 docs/categories.yml，或移动页面"),
    ),
    Rule(
        "P402",
        en=("{name} is no slug", "name the file in lower-case words joined by -"),
        zh=("{name} 不能用作 slug", "文件名用 - 连接的小写英文单词"),
    ),
    Rule(
        "P403",
        en=("two recipes are called {slug}", "rename one"),
        zh=("有两个条目都叫 {slug}", "给其中一个改名"),
    ),
    Rule(
        "P404",
        en=("a page that no recipe is", "move it to docs/<lang>/<category>/<slug>.md"),
        zh=("这个页面不是任何条目", "移到 docs/<lang>/<category>/<slug>.md"),
    ),
    # T1: the two languages
    Rule(
        "T101",
        en=("no page in the other language", "write {twin}"),
        zh=("缺少另一种语言的页面", "编写 {twin}"),
    ),
    Rule(
        "T102",
        en=(
            "blocks differ",
            "show the same blocks with the same marks as {twin}, in that order",
        ),
        zh=("代码块不一致", "代码块、标记和顺序都与 {twin} 保持相同"),
    ),
    Rule(
        "T103",
        en=("heading ids differ", "use the heading ids of {twin}, in that order"),
        zh=("小节标题的 id 不一致", "id 和顺序都与 {twin} 保持相同"),
    ),
    Rule(
        "T104",
        en=("the ```pytb blocks differ", "quote the same messages as {twin}"),
        zh=("```pytb 块不一致", "引用与 {twin} 相同的报错信息"),
    ),
    Rule(
        "T105",
        en=("no link to {link}", "link to it as {twin} does, or remove it there"),
        zh=("没有指向 {link} 的链接", "像 {twin} 那样链接过去，或从那一页删掉"),
    ),
    Rule(
        "T106",
        en=(
            "nobody has written this recipe in the other language yet",
            "write {twin}, with the same blocks and heading ids; until then the site "
            "shows the code there, and links here",
        ),
        zh=(
            "这个条目还没有另一种语言的页面",
            "编写 {twin}，代码块和小节标题的 id 与本页相同；"
            "在此之前，网站在那里只显示代码，并链接到本页",
        ),
        severity=WARNING,
    ),
    Rule(
        "T107",
        en=(
            "{twin} has changed since this page was last in line with it",
            "bring this page up to date, then run python -m cookbook parity {slug}",
        ),
        zh=(
            "上次核对之后，{twin} 又有改动",
            "对照那一页更新本页，然后运行 python -m cookbook parity {slug}",
        ),
        severity=WARNING,
    ),
    Rule(
        "T108",
        en=(
            "nobody has confirmed that this page says the same as {twin}",
            "compare the two, then run python -m cookbook parity {slug}",
        ),
        zh=(
            "本页与 {twin} 的内容是否一致，还没有人核对过",
            "对照两页，然后运行 python -m cookbook parity {slug}",
        ),
        severity=WARNING,
    ),
    # S1: text of a snippet
    Rule(
        "S101",
        en=(
            "{count} lines, in the shape of a {shape}",
            "cut it to {limit}; proof belongs in tests/, a whole program says "
            "shape: program in the front matter",
        ),
        zh=(
            "共 {count} 行，属于 {shape}",
            "减到 {limit} 行以内；验证写到 tests/，完整的程序在页首元数据里写 "
            "shape: program",
        ),
    ),
    Rule(
        "S102",
        en=("{count} columns", "break the line before {limit}"),
        zh=("这一行宽 {count} 列", "在第 {limit} 列之前换行"),
    ),
    Rule(
        "S103",
        en=("a tab, which the page turns into spaces", "use spaces"),
        zh=("有制表符，页面会把它变成空格", "改用空格"),
    ),
    Rule(
        "S104",
        en=("spaces at the end of the line", "remove them"),
        zh=("行尾有空格", "删掉"),
    ),
    Rule(
        "S105",
        en=("``` inside a snippet ends the block on the page", "write it otherwise"),
        zh=("代码中的 ``` 会让页面上的代码块提前结束", "换一种写法"),
    ),
    Rule(
        "S106",
        en=("# (1)! becomes an annotation on the page", "write a plain comment"),
        zh=("# (1)! 在页面上会变成弹出注释", "写成普通注释"),
    ),
    Rule(
        "S107",
        en=("--8<-- inside a snippet would be expanded", "write it otherwise"),
        zh=("代码中的 --8<-- 会被展开", "换一种写法"),
    ),
    Rule(
        "S108",
        en=(
            "the file's end would not survive copying",
            "end the file with one newline",
        ),
        zh=("文件结尾在复制后会改变", "文件以恰好一个换行符结尾"),
    ),
    # S2: code of a snippet
    Rule(
        "S201",
        en=("does not parse ({reason})", "make it run by itself"),
        zh=("有语法错误（{reason}）", "改到能够单独运行"),
    ),
    Rule(
        "S202",
        en=(
            "no docstring",
            'begin with """One sentence that says what this is for."""',
        ),
        zh=("缺少 docstring", '文件开头写一句英文说明用途："""One sentence …."""'),
    ),
    Rule(
        "S203",
        en=(
            "the snippet claims nothing",
            "assert what it shows, or print it and record the output",
        ),
        zh=("代码没有验证任何结论", "用 assert 验证它展示的结论，或打印出来并记录输出"),
    ),
    Rule(
        "S204",
        en=(
            "{name} has no docstring",
            "say in it what is returned: shapes, units, errors",
        ),
        zh=("{name} 没有 docstring", "在其中说明返回什么：形状、单位、异常"),
    ),
    Rule(
        "S206",
        en=(
            "{package} is not declared",
            "use a package of requirements.in, or add it there",
        ),
        zh=("{package} 不在依赖中", "使用 requirements.in 中已有的包，或添加到其中"),
    ),
    Rule(
        "S207",
        en=(
            "{name} needs the network; a snippet runs without",
            "make its data in the snippet",
        ),
        zh=("{name} 需要联网，而代码必须离线运行", "在代码中生成所需的数据"),
    ),
    Rule(
        "S208",
        en=("{name} is deprecated or gone", "use {replacement}"),
        zh=("{name} 已弃用或已移除", "改用 {replacement}"),
    ),
    Rule(
        "S209",
        en=(
            "torch.load without weights_only",
            "write weights_only=True, or False with a comment why the file is trusted",
        ),
        zh=(
            "torch.load 没有写明 weights_only",
            "写 weights_only=True；要用 False，就注释说明为什么信任这个文件",
        ),
    ),
    Rule(
        "S210",
        en=(
            "{name} ends the run before what follows is checked",
            "let the snippet run to its end, or raise another exception",
        ),
        zh=(
            "{name} 会提前结束运行，后面的代码得不到验证",
            "让代码运行到结尾，或抛出别的异常",
        ),
    ),
    Rule(
        "S211",
        en=(
            "{name} is a module's name, which this file hides from its neighbours",
            "give the file and its recipe a name of several words",
        ),
        zh=(
            "{name} 是模块名，同一文件夹中的代码会误导入这个文件",
            "给文件和条目换一个由几个单词组成的名字",
        ),
    ),
    # S3: what belongs to a snippet
    Rule(
        "S301",
        en=("a snippet on no page", 'show it: ```python with --8<-- "{include}"'),
        zh=(
            "没有页面展示这个代码文件",
            '在页面上引入：```python 内写 --8<-- "{include}"',
        ),
    ),
    Rule(
        "S302",
        en=("recorded output of no snippet", "remove it"),
        zh=("这份输出没有对应的代码文件", "删掉"),
    ),
    Rule(
        "S303",
        en=(
            "no test of the snippet's behaviour",
            "write {test}, against something independent",
        ),
        zh=("没有测试这份代码的行为", "编写 {test}，与独立的结果对照"),
    ),
    Rule(
        "S304",
        en=(
            "the recorded output says nothing",
            "record what is the same in every run, and ... only for the rest",
        ),
        zh=("记录的输出没有内容", "记录每次运行都相同的部分，其余才写 ..."),
    ),
    # F1: any file
    Rule(
        "F101",
        en=(
            "what looks like a credential ({kind})",
            "remove it, and revoke it where it is valid; an example is marked by "
            "the comment pragma: allowlist secret",
        ),
        zh=(
            "疑似密钥或口令（{kind}）",
            "删掉，有效的还要吊销；若只是示例，在行尾注释 pragma: allowlist secret",
        ),
    ),
    Rule(
        "F102",
        en=(
            "a path of one machine, {found}",
            "write a path relative to the current folder",
        ),
        zh=("只在某台机器上有的路径 {found}", "写成相对于当前文件夹的路径"),
    ),
    Rule(
        "F103",
        en=("left undone: {text}", "do it, and remove the TODO"),
        zh=("尚未完成：{text}", "完成它，并删掉 TODO"),
    ),
    Rule(
        "F104",
        en=(
            "{file} is not UTF-8, or begins with a byte-order mark",
            "save it as UTF-8 without one",
        ),
        zh=(
            "{file} 不是 UTF-8 编码，或带有字节顺序标记（BOM）",
            "另存为不带 BOM 的 UTF-8",
        ),
    ),
    # R1: records of runs
    Rule(
        "R101",
        en=(
            "the record is not JSON; it may have been cut off",
            "run pytest --verify in that environment, or remove the file",
        ),
        zh=(
            "记录不是合法的 JSON，可能没有写完",
            "在该环境中运行 pytest --verify，或删掉这个文件",
        ),
    ),
    Rule(
        "R102",
        en=(
            "the record does not fit verified/schema.json: {place}: {why}",
            "run pytest --verify in that environment, or remove the file",
        ),
        zh=(
            "记录不符合 verified/schema.json：{place}：{why}",
            "在该环境中运行 pytest --verify，或删掉这个文件",
        ),
    ),
    Rule(
        "R103",
        en=(
            "the record names a block twice",
            "run pytest --verify in that environment, or remove the file",
        ),
        zh=(
            "记录中同一个代码块出现了两次",
            "在该环境中运行 pytest --verify，或删掉这个文件",
        ),
    ),
    Rule(
        "R105",
        en=(
            "the record was changed after it was written",
            "run pytest --verify in that environment, or remove the file",
        ),
        zh=("记录写成之后又被改动过", "在该环境中运行 pytest --verify，或删掉这个文件"),
    ),
    Rule(
        "R106",
        en=(
            "the record belongs to another environment, {name}",
            "run pytest --verify in that environment, or remove the file",
        ),
        zh=(
            "这份记录属于另一个环境 {name}",
            "在该环境中运行 pytest --verify，或删掉这个文件",
        ),
    ),
    # X1: retired recipes
    Rule(
        "X101",
        en=("the list is not YAML ({reason})", "quote values that hold a colon"),
        zh=("这份列表不是合法的 YAML（{reason}）", "给含有冒号的值加上引号"),
    ),
    Rule(
        "X102",
        en=(
            "an entry that is not complete",
            "write page: <category>/<slug>, and title and reason under en: and zh:",
        ),
        zh=(
            "这一项不完整",
            "写明 page: <category>/<slug>，并在 en: 和 zh: 下各写 title 与 reason",
        ),
    ),
    Rule(
        "X103",
        en=("{slug} is retired, and has a page", "remove the entry, or {path}"),
        zh=("{slug} 已停用，却还有页面", "删掉这一项，或删掉 {path}"),
    ),
    Rule(
        "X104",
        en=("no recipe {successor}", "name the slug of a recipe, or no successor"),
        zh=("没有条目 {successor}", "successor 填现有条目的 slug，没有就不写"),
    ),
)
RULES = {rule.code: rule for rule in _TABLE}
