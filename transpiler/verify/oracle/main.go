// oracle answers what Ollama itself makes of a Go chat template, with Ollama's own packages.
//
// It reads one JSON request a line and writes one JSON reply a line, in order, until its input ends:
//
//	{"template": T, "chats": [...]}     OpenAI chat-completions requests, taken the way Ollama's server takes them
//	{"template": T, "values": [...]}    Ollama's own values, given to the template as they stand
//	{"template": T, "parse": true}      only parse; with "tree": true also the tree, see tree.go
//	{"template": T, "tags": true}       what Ollama infers: thinking tags, tool-call tag, identifiers
//	{"modelfile": TEXT}                 the commands that Ollama's Modelfile parser finds
//
// Replies: {"results": [{"out": TEXT} or {"error": WORDS, "phase": P}, ...]} for chats and values, in their order;
// {"ok": true, "appended": BOOL, "tree": ...}; {"thinking": [OPEN, CLOSE], "tool_call": TAG, "identifiers": [...]};
// {"commands": [[NAME, ARGS], ...]}. A request that fails as a whole is answered by {"error": WORDS, "phase": P}, where
// P is "protocol" (not a request), "parse", "request" (Ollama's server refuses the chat), "execute" or "modelfile".
// Text that is not valid UTF-8 is answered as base64 in "out_base64".
//
// Request fields "now" (YYYY-MM-DD) fixes the dates, and "served": true applies to values what the server does to a
// request's think field.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

type request struct {
	Template  *string           `json:"template"`
	Modelfile *string           `json:"modelfile"`
	Chats     []json.RawMessage `json:"chats"`
	Values    []json.RawMessage `json:"values"`
	Served    bool              `json:"served"`
	Now       string            `json:"now"`
	Parse     bool              `json:"parse"`
	Tree      bool              `json:"tree"`
	Tags      bool              `json:"tags"`
}

// failure is an error that knows at which step it arose.
type failure struct {
	phase string
	words string
}

func (f *failure) Error() string { return f.words }

func fail(phase string, err error) *failure { return &failure{phase: phase, words: err.Error()} }

func (f *failure) reply() map[string]any {
	return map[string]any{"error": f.words, "phase": f.phase}
}

// guard runs fn and makes a failure of a panic, so that no request ends the process.
func guard(phase string, fn func() *failure) (err *failure) {
	defer func() {
		if r := recover(); r != nil {
			err = &failure{phase: phase, words: fmt.Sprintf("panic: %v", r)}
		}
	}()
	return fn()
}

// answer makes the reply to one line.
func answer(line []byte) map[string]any {
	var req request
	if err := json.Unmarshal(line, &req); err != nil {
		return fail("protocol", err).reply()
	}
	reply := map[string]any{}
	phase, step := "protocol", func() *failure { return &failure{"protocol", "neither template nor modelfile"} }
	switch {
	case req.Modelfile != nil:
		phase, step = "modelfile", func() *failure { return modelfile(*req.Modelfile, reply) }
	case req.Template == nil:
	case req.Tags:
		phase, step = "parse", func() *failure { return tags(*req.Template, reply) }
	case req.Parse || req.Tree:
		phase, step = "parse", func() *failure { return parseOnly(*req.Template, req.Tree, reply) }
	default:
		phase, step = "parse", func() *failure { return renderAll(req, reply) }
	}
	if err := guard(phase, step); err != nil {
		return err.reply()
	}
	return reply
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	replies := json.NewEncoder(out)
	replies.SetEscapeHTML(false)
	for {
		line, end := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := replies.Encode(answer(line)); err != nil {
				fmt.Fprintln(os.Stderr, "oracle:", err)
				os.Exit(1)
			}
			if err := out.Flush(); err != nil {
				return
			}
		}
		if end != nil {
			return
		}
	}
}
