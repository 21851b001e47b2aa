package main

import (
	"strings"

	"github.com/ollama/ollama/parser"
	"github.com/ollama/ollama/template"
	"github.com/ollama/ollama/thinking"
	"github.com/ollama/ollama/tools"
)

// parseOnly says whether Ollama takes the template, and whether it appends {{ .Response }} to it.
func parseOnly(text string, tree bool, reply map[string]any) *failure {
	t, err := template.Parse(text)
	if err != nil {
		return fail("parse", err)
	}
	appended := detachResponse(t)
	reply["ok"] = true
	reply["appended"] = appended
	if tree {
		trees := map[string]any{}
		for _, part := range t.Templates() {
			if part.Tree != nil && part.Root != nil {
				trees[part.Name()] = dump(part.Root)
			}
		}
		reply["tree"] = trees
	}
	return nil
}

// tags are what Ollama infers from a template: the tags around thinking, the text that opens a tool call, and the
// lower-cased identifiers that decide the mode and the capabilities.
func tags(text string, reply map[string]any) *failure {
	t, err := template.Parse(text)
	if err != nil {
		return fail("parse", err)
	}
	identifiers, err := t.Vars()
	if err != nil {
		return fail("parse", err)
	}
	opening, closing := thinking.InferTags(t.Template)
	reply["thinking"] = []string{opening, closing}
	reply["tool_call"] = tools.NewParser(t.Template, nil).Tag()
	reply["identifiers"] = identifiers
	return nil
}

// modelfile lists the commands of a Modelfile; their names are Ollama's ("model" for FROM).
func modelfile(text string, reply map[string]any) *failure {
	file, err := parser.ParseFile(strings.NewReader(text))
	if err != nil {
		return fail("modelfile", err)
	}
	commands := make([][2]string, 0, len(file.Commands))
	for _, c := range file.Commands {
		commands = append(commands, [2]string{c.Name, c.Args})
	}
	reply["commands"] = commands
	return nil
}
