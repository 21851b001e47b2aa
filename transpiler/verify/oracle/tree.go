package main

import (
	"fmt"
	"text/template/parse"

	"github.com/ollama/ollama/template"
)

// detachResponse undoes what Ollama's Parse does to a template that has neither .Messages nor .Response: it appends
// {{ .Response }}. A node that was read from a text has a line, the appended one has not.
func detachResponse(t *template.Template) bool {
	if t.Tree == nil || t.Root == nil || len(t.Root.Nodes) == 0 {
		return false
	}
	last := len(t.Root.Nodes) - 1
	if action, ok := t.Root.Nodes[last].(*parse.ActionNode); ok && action.Line == 0 {
		t.Root.Nodes = t.Root.Nodes[:last]
		return true
	}
	return false
}

// dump writes a tree as nested JSON arrays, the node's kind first:
//
//	["list", NODE...] ["text", TEXT] ["action", PIPE] ["template", NAME, PIPE or null] ["break"] ["continue"]
//	["if" | "range" | "with", PIPE, LIST, LIST or null]
//	["pipe", [VARIABLE...], ":=" | "=" | "", COMMAND...] ["command", OPERAND...]
//	["dot"] ["nil"] ["bool", BOOL] ["number", TEXT] ["string", VALUE, QUOTED] ["identifier", NAME]
//	["field", NAME...] ["variable", NAME...] ["chain", OPERAND, NAME...]
func dump(n parse.Node) any {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		return append([]any{"list"}, each(n.Nodes)...)
	case *parse.TextNode:
		return []any{"text", string(n.Text)}
	case *parse.ActionNode:
		return []any{"action", dump(n.Pipe)}
	case *parse.TemplateNode:
		return []any{"template", n.Name, dump(n.Pipe)}
	case *parse.BreakNode:
		return []any{"break"}
	case *parse.ContinueNode:
		return []any{"continue"}
	case *parse.IfNode:
		return branch("if", &n.BranchNode)
	case *parse.RangeNode:
		return branch("range", &n.BranchNode)
	case *parse.WithNode:
		return branch("with", &n.BranchNode)
	case *parse.PipeNode:
		if n == nil {
			return nil
		}
		sign := ""
		variables := []any{}
		for _, v := range n.Decl {
			variables = append(variables, v.Ident[0])
			sign = ":="
		}
		if n.IsAssign {
			sign = "="
		}
		pipe := []any{"pipe", variables, sign}
		for _, c := range n.Cmds {
			pipe = append(pipe, dump(c))
		}
		return pipe
	case *parse.CommandNode:
		return append([]any{"command"}, each(n.Args)...)
	default:
		return operand(n)
	}
}

func operand(n parse.Node) any {
	switch n := n.(type) {
	case *parse.DotNode:
		return []any{"dot"}
	case *parse.NilNode:
		return []any{"nil"}
	case *parse.BoolNode:
		return []any{"bool", n.True}
	case *parse.NumberNode:
		return []any{"number", n.Text}
	case *parse.StringNode:
		return []any{"string", n.Text, n.Quoted}
	case *parse.IdentifierNode:
		return []any{"identifier", n.Ident}
	case *parse.FieldNode:
		return names("field", n.Ident)
	case *parse.VariableNode:
		return names("variable", n.Ident)
	case *parse.ChainNode:
		chain := []any{"chain", dump(n.Node)}
		for _, name := range n.Field {
			chain = append(chain, name)
		}
		return chain
	case *parse.PipeNode:
		return dump(n)
	}
	panic(fmt.Sprintf("unknown node %T", n))
}

func branch(kind string, n *parse.BranchNode) any {
	return []any{kind, dump(n.Pipe), dump(n.List), dump(n.ElseList)}
}

func each(nodes []parse.Node) []any {
	out := make([]any, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, dump(n))
	}
	return out
}

func names(kind string, idents []string) any {
	out := []any{kind}
	for _, name := range idents {
		out = append(out, name)
	}
	return out
}
