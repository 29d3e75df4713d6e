"""Classes of applications: what kind of program a snapshot shows (browser, ide, chat, …).

Names come as Windows processes (``msedge.exe``), macOS names (``Visual Studio Code``), X11 classes
(``org.gnome.Nautilus``) or in Chinese; a browser is classed by its title where that names a well-known web
application. People extend the mapping with a YAML file::

    apps:
      acme-crm.exe: office
    titles:             # for browsers only; regular expressions, case ignored, tried before ours
      - {match: "acme wiki", class: notes}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from simulator.core.errors import InputError, nearest
from simulator.core.patterns import PIECE, PatternError, compile_pattern
from simulator.core.titles import INVISIBLE

__all__ = ["CLASSES", "DEFAULT", "Taxonomy", "category", "load", "spellings"]

CLASSES = (
    "assistant", "browser", "chat", "database", "design", "file_manager", "game", "ide", "image_viewer", "mail",
    "media", "meeting", "notes", "office", "other", "reader", "remote", "system", "terminal",
)  # fmt: skip

_APPS: dict[str, str] = {
    "assistant":
        "chatgpt, claude, copilot, microsoft copilot, gemini, perplexity, doubao, 豆包, kimi, deepseek, "
        "tongyi, 通义, 通义千问, 文心一言, yuanbao, 腾讯元宝, 元宝, poe, cherry studio, lm studio, ollama, "
        "chatbox, monica, jan",
    "browser":
        "chrome, google chrome, google-chrome, chromium, chromium-browser, msedge, microsoft edge, "
        "microsoft-edge, firefox, mozilla firefox, firefox-esr, navigator, safari, opera, brave, "
        "brave browser, brave-browser, vivaldi, arc, iexplore, qqbrowser, qq浏览器, 360se, 360chrome, "
        "360安全浏览器, sogouexplorer, 搜狗高速浏览器, epiphany, org.gnome.epiphany, tor browser, "
        "librewolf, zen, 谷歌浏览器, 火狐浏览器",
    "chat":
        "wechat, weixin, 微信, wechatappex, qq, tim, telegram, telegram desktop, slack, discord, whatsapp, "
        "signal, messages, 信息, line, dingtalk, 钉钉, feishu, lark, 飞书, wxwork, 企业微信, wecom, "
        "element, messenger, skype, teams, ms-teams, microsoft teams, mattermost",
    "database":
        "dbeaver, datagrip, datagrip64, navicat, tableplus, sequel ace, pgadmin4, mysqlworkbench, "
        "db browser for sqlite, ssms, mongodb compass",
    "design":
        "figma, photoshop, adobe photoshop, illustrator, gimp, gimp-2.10, org.gimp.gimp, inkscape, "
        "org.inkscape.inkscape, sketch, blender, krita, affinity designer, canva, mspaint, paint, 画图, "
        "lightroom, premiere, after effects, afterfx, adobe premiere pro, davinci resolve, resolve, 剪映, "
        "jianyingpro, capcut, axure, xd, autocad, acad, sldworks, kolourpaint, fusion360, unity, "
        "unity hub",
    "file_manager":
        "explorer, 文件资源管理器, finder, 访达, nautilus, org.gnome.nautilus, dolphin, thunar, nemo, "
        "pcmanfm, caja, files, totalcmd64, 7zfm, winrar, bandizip, everything, ranger, mc",
    "game":
        "steam, steamwebhelper, wegame, minecraft, javaw minecraft, league of legends, leagueclientux, "
        "原神, yuanshen, genshinimpact",
    "ide":
        "code, visual studio code, vscode, vscodium, code - insiders, code-oss, cursor, trae, trae cn, "
        "windsurf, devenv, visual studio, pycharm, pycharm64, jetbrains-pycharm, jetbrains-pycharm-ce, "
        "idea64, idea, intellij idea, jetbrains-idea, webstorm, webstorm64, goland, goland64, clion, "
        "clion64, rider, rider64, phpstorm, phpstorm64, rustrover, rustrover64, android studio, studio64, "
        "xcode, eclipse, sublime_text, sublime text, atom, emacs, gvim, nvim, neovide, zed, rstudio, "
        "spyder, jupyter, jupyterlab, jupyter-lab, matlab, mathematica, hbuilderx, notepad++, kate, geany, "
        "thonny, idle, qtcreator, 微信开发者工具, wechatdevtools, lapce",
    "image_viewer":
        "preview, 预览, photos, microsoft photos, 照片, 图片, eog, org.gnome.eog, gwenview, feh, "
        "ristretto, irfanview, i_view64, nomacs, sxiv, viewnior, xviewer, image viewer, loupe, "
        "org.gnome.loupe, honeyview, display, gpicview",
    "mail":
        "outlook, microsoft outlook, olk, thunderbird, mail, 邮件, foxmail, mailspring, evolution, geary, "
        "spark, hxoutlook, 网易邮箱大师, mailmaster, airmail",
    "media":
        "vlc, mpv, spotify, music, 音乐, cloudmusic, 网易云音乐, qqmusic, qq音乐, kugou, 酷狗音乐, "
        "potplayer, potplayermini64, wmplayer, quicktime player, itunes, tv, totem, rhythmbox, bilibili, "
        "哔哩哔哩, iqiyi, 爱奇艺, youku, 优酷, tencentvideo, 腾讯视频, obs, obs64, obs studio, douyin, "
        "抖音, audacity, kodi",
    "meeting":
        "zoom, zoom.us, zoom workplace, wemeetapp, 腾讯会议, voov meeting, webex, ciscocollabhost, "
        "gotomeeting, facetime, google meet, jitsi meet, 飞书会议",
    "notes":
        "notion, obsidian, evernote, 印象笔记, onenote, microsoft onenote, notes, 备忘录, typora, logseq, "
        "joplin, notepad, 记事本, textedit, 文本编辑, gedit, org.gnome.texteditor, gnome-text-editor, "
        "mousepad, featherpad, leafpad, xed, pluma, kwrite, bear, craft, stickynotes, sticky notes, "
        "reminders, 提醒事项, 有道云笔记, youdaonote, zotero, anki, simplenote, standard notes, l3afpad",
    "office":
        "winword, word, microsoft word, excel, microsoft excel, powerpnt, powerpoint, "
        "microsoft powerpoint, wps, et, wpp, wpsoffice, wps office, wps表格, wps文字, wps演示, "
        "libreoffice, soffice, soffice.bin, libreoffice-writer, libreoffice-calc, libreoffice-impress, "
        "libreoffice-startcenter, pages, numbers, keynote, 文稿, 表格, numbers 表格, pages 文稿, "
        "keynote 讲演, onlyoffice, desktopeditors, visio, msaccess, winproj, xmind, gnumeric, abiword, "
        "calendar, 日历, texstudio, texmaker, lyx, overleaf, draw.io, mindmanager, localc, lowriter",
    "reader":
        "acrobat, acrord32, adobe acrobat, adobe acrobat reader, evince, org.gnome.evince, okular, "
        "org.kde.okular, sumatrapdf, foxitreader, foxitpdfreader, skim, calibre, books, 图书, kindle, "
        "weread, 微信读书, cajviewer, mupdf, xpdf, zathura, papers",
    "remote":
        "mstsc, remote desktop, microsoft remote desktop, teamviewer, anydesk, todesk, sunloginclient, "
        "向日葵远程控制, vmware, virtualbox, virtualboxvm, parallels desktop, remmina, vncviewer, "
        "windows app, rustdesk",
    "system":
        "shellexperiencehost, searchapp, searchhost, startmenuexperiencehost, lockapp, taskmgr, "
        "任务管理器, systemsettings, 设置, settings, system settings, system preferences, 系统设置, "
        "系统偏好设置, control, 控制面板, loginwindow, dock, spotlight, 聚焦, applicationframehost, "
        "textinputhost, dwm, mmc, regedit, gnome-control-center, gnome-shell, plasmashell, xfdesktop, "
        "xfce4-panel, activity monitor, 活动监视器, calculator, calculatorapp, 计算器, calc, snippingtool, "
        "screenshot, 截图, app store, 应用商店, windowsterminalhost, clock, 时钟, gnome-system-monitor, "
        "xmessage, zenity, galculator",
    "terminal":
        "windowsterminal, windows terminal, cmd, 命令提示符, powershell, pwsh, windows powershell, "
        "terminal, 终端, iterm2, iterm, gnome-terminal, gnome-terminal-server, konsole, xterm, uxterm, "
        "urxvt, alacritty, kitty, wezterm, wezterm-gui, warp, tabby, hyper, xfce4-terminal, tilix, "
        "terminator, putty, mobaxterm, securecrt, finalshell, xshell, mintty, conhost, ghostty, foot, "
        "lxterminal, wsl, ptyxis",
}  # fmt: skip

# Of a browser's title. First match wins; words that are also ordinary words need company.
_TITLES: tuple[tuple[str, str], ...] = (
    (
        r"\bchatgpt\b|\bclaude(?:\.ai)?$|\bperplexity\b|google gemini|^gemini\b|\bcopilot\b(?! studio)|豆包|\bkimi\b"
        r"|deepseek|通义千问|文心一言|腾讯元宝|智谱清言|chatglm|\bpoe$",
        "assistant",
    ),
    (r"\bgmail\b|outlook\.com|邮箱|\bproton ?mail\b|^(?:mail|邮件) [-–] |[-–] outlook$|webmail", "mail"),
    (r"google meet\b|^meet [-–] |zoom meeting|腾讯会议", "meeting"),
    (
        r"google (?:docs|sheets|slides|文档|表格|幻灯片)|腾讯文档|石墨文档|金山文档|overleaf"
        r"|microsoft (?:word|excel|powerpoint)",
        "office",
    ),
    (r"\bnotion\b|语雀|飞书云文档", "notes"),
    (r"\bfigma\b|\bcanva\b|photopea", "design"),
    (r"\bslack\b|whatsapp|telegram web|discord\b|messenger$", "chat"),
    (r"\byoutube\b|\bnetflix\b|bilibili|哔哩哔哩|\bspotify\b|爱奇艺|优酷|腾讯视频|\btwitch\b", "media"),
    (r"jupyter(?:lab)?\b|google colab|colaboratory|codespaces|codesandbox|\breplit\b|\bleetcode\b|力扣", "ide"),
)

_UNKNOWN = frozenset({"", "unknown", "未知应用", "unknown app", "none", "null"})
_ENDING = re.compile(r"(?:\.exe|\.app|\.desktop|\.bin|\.appimage)$")
_VERSION = re.compile(r"[\s_-]*(?:v?\d+(?:\.\d+)*|x?64|x86|\(64-bit\)|beta|stable|nightly)$")


def _fold(app: str) -> str:
    name = app.translate(INVISIBLE).strip().casefold()
    name = re.split(r"[\\/]", name)[-1] if "\\" in name or "/" in name else name
    return _ENDING.sub("", name).strip()


def spellings(app: str) -> tuple[str, ...]:
    """An application's name as lists may hold it: folded, without version, without ``org.vendor.``, its first word."""
    name = _fold(app)
    tried = (name, _VERSION.sub("", name), name.rpartition(".")[2], name.partition(" ")[0])
    return tuple(dict.fromkeys(filter(None, tried)))


class Taxonomy:
    """A mapping from applications to classes.

    Args:
        apps: names of applications (any spelling that ``category`` folds) to classes.
        titles: pairs (regular expression, class) tried on the titles of browsers, before the built-in ones.
    """

    def __init__(self, apps: Mapping[str, str] | None = None, titles: Sequence[tuple[str, str]] = ()) -> None:
        self._apps = {_fold(name): kind for kind, names in _APPS.items() for name in names.split(", ")}
        self._apps.update({_fold(name): kind for name, kind in (apps or {}).items()})
        ours = [(re.compile(pattern, re.IGNORECASE), kind) for pattern, kind in _TITLES]
        self._titles = [*((compile_pattern(pattern), kind) for pattern, kind in titles), *ours]
        self._of_app = lru_cache(maxsize=4096)(self._find)
        self._of_title = lru_cache(maxsize=16384)(self._web)

    def category(self, app: str | None, title: str | None = None) -> str | None:
        """The class of an application, ``other`` for one we do not know, None when the application is unknown."""
        if app is None:
            return None
        kind = self._of_app(app)
        if kind == "browser" and title is not None:
            return self._of_title(title)
        return kind

    def _find(self, app: str) -> str | None:
        if _fold(app) in _UNKNOWN:
            return None
        return next((self._apps[name] for name in spellings(app) if name in self._apps), "other")

    def _web(self, title: str) -> str:
        text = title.translate(INVISIBLE)
        if len(text) > PIECE:  # what names an application stands at its start or end
            text = f"{text[: PIECE // 2]} {text[-PIECE // 2 + 1 :]}"
        return next((kind for pattern, kind in self._titles if pattern.search(text)), "browser")


DEFAULT = Taxonomy()
category = DEFAULT.category


def load(path: Path) -> Taxonomy:
    """The built-in taxonomy extended by a YAML file.

    Raises:
        InputError: no such file, not YAML, unknown key or class, not a regular expression, or one that could take long.
    """
    from simulator.core.yaml_files import read_yaml  # only who extends the mapping waits for it

    raw = read_yaml(path) or {}
    if not isinstance(raw, dict):
        raise InputError(path, "must be a mapping with the keys apps and titles")
    for key in raw:
        if key not in ("apps", "titles"):
            raise InputError(path, f"unknown key; {nearest(str(key), ('apps', 'titles'))}", value=key)
    apps, titles = raw.get("apps") or {}, raw.get("titles") or []
    if not isinstance(apps, dict):
        raise InputError(path, "must be a mapping from names to classes", field="apps")
    for name, kind in apps.items():
        _check_class(path, f"apps.{name}", kind)
    if not isinstance(titles, list):
        raise InputError(path, "must be a list of {match: …, class: …}", field="titles")
    pairs = [_title_rule(path, i, rule) for i, rule in enumerate(titles)]
    return Taxonomy({str(k): v for k, v in apps.items()}, pairs)


def _title_rule(path: Path, i: int, rule: object) -> tuple[str, str]:
    field = f"titles[{i}]"
    if not isinstance(rule, dict) or set(rule) != {"match", "class"} or not isinstance(rule["match"], str):
        raise InputError(path, "must be a mapping with exactly the keys match (a text) and class", field=field)
    _check_class(path, f"{field}.class", rule["class"])
    try:
        compile_pattern(rule["match"])
    except PatternError as error:
        raise InputError(path, str(error), field=f"{field}.match", value=rule["match"]) from error
    return rule["match"], str(rule["class"])


def _check_class(path: Path, field: str, kind: object) -> None:
    if not isinstance(kind, str) or kind not in CLASSES:
        raise InputError(path, f"unknown class; {nearest(str(kind), CLASSES)}", field=field, value=kind)
