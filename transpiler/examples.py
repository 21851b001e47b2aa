"""A small input for every code that gives its diagnostic; `explain` shows what is said about it."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXAMPLES"]

_CHAT = "{{ range .Messages }}{{ .Content }}{{ end }}"

EXAMPLES: Mapping[str, str] = {
    "GT101": '{{ range .Messages }}{{ if .Role == "user" }}{{ .Content }}{{ end }}{{ end }}',
    "GT102": "{{ range .Messages }}{{ .Content }}{{ end",
    "GT103": "{{ range .Messages }}{{ $role }}{{ end }}",
    "GT104": "{{ range .Messages }}{{ upper .Role }}{{ end }}",
    "GT105": "{{ range .Messages }}{{ if }}{{ .Content }}{{ end }}{{ end }}",
    "GT106": "{{ range .Messages }}{{ .Content }}",
    "GT107": "{{ range .Messages }}{{ if eq 0x 1 }}{{ .Content }}{{ end }}{{ end }}",
    "GT108": '{{ range .Messages }}{{ .Content | "x" }}{{ end }}',
    "GT109": "{{ range $a, $b, $c := .Messages }}{{ end }}",
    "GT110": f"{{{{ break }}}}{_CHAT}",
    "GT111": '{{ define "a" }}x{{ end }}{{ define "a" }}y{{ end }}{{ range .Messages }}{{ template "a" . }}{{ end }}',
    "GT151": 'FROM llama3\nTEMPLATE """{{ .Prompt }}"""\nSTOP <|end|>\n',
    "GT152": f'FROM llama3\nTEMPLATE """{_CHAT}"""\nMESSAGE tool hello\n',
    "GT153": f'FROM llama3\nTEMPLATE """{_CHAT}"""\nSYSTEM "Bob" says hi\n',
    "GT154": f'TEMPLATE """{_CHAT}"""\n',
    "GT155": f'FROM llama3\nTEMPLATE """{_CHAT}"""\nPARAMETER top-k 3\n',
    "GT201": '{{ range .Messages }}{{ template "turn" . }}{{ end }}',
    "GT202": "{{ range .Messages }}{{ .Text }}{{ end }}",
    "GT203": "{{ range .Messages }}{{ if eq .Content 1 }}x{{ end }}{{ end }}",
    "GT204": "{{ range .Messages }}{{ range .Content }}x{{ end }}{{ end }}",
    "GT205": "{{ range .Messages }}{{ len 3 }}{{ .Content }}{{ end }}",
    "GT206": '{{ define "a" }}x{{ end }}{{ range .Messages }}{{ template "a" }}{{ .Content }}{{ end }}',
    "GT207": "{{ range .Messages }}{{ $x = 1 }}{{ .Content }}{{ end }}",
    "GT208": "{{ if .Prompt }}{{ .Prompt }}{{ .Response }}{{ else }}x{{ end }}",
    "GT301": f"{{{{ .Messages }}}}{_CHAT}",
    "GT302": "{{ range .Messages }}{{ if lt .Content .Role }}x{{ end }}{{ end }}",
    "GT303": "{{ range .Messages }}{{ slice .Content 1 2 }}{{ end }}",
    "GT304": '{{ range .Messages }}{{ printf "%5d" 1 }}{{ .Content }}{{ end }}',
    "GT305": "{{ range .Messages }}{{ js .Content }}{{ end }}",
    "GT306": "{{ range .Messages }}{{ range .ToolCalls }}\n{{ range $k, $v := .Function.Arguments }}"
    "{{ range $v }}x{{ end }}{{ end }}\n{{ end }}{{ end }}",
    "GT401": "{{ $seen := false }}\n{{ range .Messages }}\n{{ if .Content }}{{ $seen := true }}{{ end }}\n"
    "{{ if $seen }}{{ .Content }}{{ end }}\n{{ end }}",
    "GT402": f"{{{{ range .Tools }}}}{{{{ .Function }}}}{{{{ end }}}}{_CHAT}",
    "GT451": 'FROM llama3\nTEMPLATE """{{ range .Messages }}\u00a0{{ .Content }}{{ end }}"""\n',
    "GT902": "{{ range .Messages }}" * 21 + "{{ end }}" * 21,
    "GT904": f"GGUF\0{_CHAT}",
    "GT905": "",
    "GT906": f"\ufeff{_CHAT}",
    "GT907": 'FROM qwen\nRENDERER qwen3-coder\nTEMPLATE """{{ .Prompt }}"""\n',
    "GT908": "FROM llama3\nSYSTEM You are kind.\n",
    "GT910": "{{ if .Suffix }}<PRE>{{ .Prompt }}<SUF>{{ .Suffix }}<MID>{{ else }}{{ .Prompt }}{{ end }}",
    "GT909": f'FROM llama3\nTEMPLATE """{_CHAT}"""\nMESSAGE user Hi\n',
}
"""By code; GT901 and GT903, inputs that can't be written down here, and GT911, which takes an option, have none."""
