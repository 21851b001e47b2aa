package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	gotemplate "text/template"
	"time"
	"unicode/utf8"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/openai"
	"github.com/ollama/ollama/template"
	"github.com/ollama/ollama/thinking"
)

// longest is the number of bytes after which a rendering in messages mode is given up.
const longest = 64 << 20

// chat is an OpenAI chat-completions request, or with "prompt" a completion with an optional suffix, plus Ollama's
// think field. Other fields are ignored, as the server ignores them.
type chat struct {
	openai.ChatCompletionRequest
	Prompt *string         `json:"prompt"`
	Suffix string          `json:"suffix"`
	Think  *api.ThinkValue `json:"think"`
}

// values are what Ollama's template.Execute takes.
type values struct {
	Messages   []api.Message `json:"messages"`
	Tools      api.Tools     `json:"tools"`
	Prompt     string        `json:"prompt"`
	Suffix     string        `json:"suffix"`
	Think      bool          `json:"think"`
	ThinkLevel string        `json:"think_level"`
	IsThinkSet bool          `json:"is_think_set"`
}

// load parses a template and, where now is set, replaces the functions that read the clock.
func load(text, now string) (*template.Template, *failure) {
	t, err := template.Parse(text)
	if err != nil {
		return nil, fail("parse", err)
	}
	if now != "" {
		day, err := time.Parse(time.DateOnly, now)
		if err != nil {
			return nil, fail("protocol", err)
		}
		t.Template.Funcs(gotemplate.FuncMap{
			"currentDate":   func(...string) string { return day.Format(time.DateOnly) },
			"yesterdayDate": func(...string) string { return day.AddDate(0, 0, -1).Format(time.DateOnly) },
		})
	}
	return t, nil
}

// renderAll renders every chat, or every set of values, of a request with its one template.
func renderAll(req request, reply map[string]any) *failure {
	t, err := load(*req.Template, req.Now)
	if err != nil {
		return err
	}
	thinks := infersThinking(t)
	results := make([]map[string]any, 0, len(req.Chats)+len(req.Values))
	for _, raw := range req.Chats {
		results = append(results, render(t, func() (template.Values, *failure) { return fromChat(raw, thinks) }))
	}
	for _, raw := range req.Values {
		results = append(results, render(t, func() (template.Values, *failure) {
			return fromValues(raw, req.Served, thinks)
		}))
	}
	reply["results"] = results
	return nil
}

func render(t *template.Template, input func() (template.Values, *failure)) map[string]any {
	var v template.Values
	if err := guard("request", func() (err *failure) { v, err = input(); return err }); err != nil {
		return err.reply()
	}
	var text limited
	if err := guard("execute", func() *failure {
		if err := t.Execute(&text, v); err != nil {
			return fail("execute", err)
		}
		return nil
	}); err != nil {
		return err.reply()
	}
	if !utf8.Valid(text.Bytes()) {
		return map[string]any{"out_base64": base64.StdEncoding.EncodeToString(text.Bytes())}
	}
	return map[string]any{"out": text.String()}
}

// limited is a buffer with an end.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > longest {
		return 0, errors.New("rendering too long")
	}
	return l.Buffer.Write(p)
}

// infersThinking says whether Ollama's server takes the template for one that can think
// (goTemplateCapabilities in Ollama's server/images.go).
func infersThinking(t *template.Template) bool {
	opening, closing := thinking.InferTags(t.Template)
	return opening != "" && closing != ""
}

// fromChat does what lies between a request to /v1/chat/completions and template.Execute: openai.FromChatRequest, one
// passage through JSON (ChatMiddleware in middleware/openai.go), the default of think (ChatHandler in
// server/routes.go), image tags and Think's three forms (chatPrompt and renderPrompt in server/prompt.go).
func fromChat(raw json.RawMessage, thinks bool) (template.Values, *failure) {
	var c chat
	if err := json.Unmarshal(raw, &c); err != nil {
		return template.Values{}, fail("request", err)
	}
	if c.Prompt != nil {
		return fromCompletion(*c.Prompt, c.Suffix, served(c.Think, thinks)), nil
	}
	converted, err := openai.FromChatRequest(c.ChatCompletionRequest)
	if err != nil {
		return template.Values{}, fail("request", err)
	}
	if c.Think != nil {
		converted.Think = c.Think
	}
	wire, err := json.Marshal(converted)
	if err != nil {
		return template.Values{}, fail("request", err)
	}
	var r api.ChatRequest
	if err := json.Unmarshal(wire, &r); err != nil {
		return template.Values{}, fail("request", err)
	}
	v := template.Values{Messages: tagImages(r.Messages), Tools: r.Tools}
	setThink(&v, served(r.Think, thinks))
	return v, nil
}

// fromCompletion is GenerateHandler in server/routes.go: a suffix makes a fill-in-the-middle request, none a chat of
// one user message.
func fromCompletion(prompt, suffix string, think *api.ThinkValue) template.Values {
	v := template.Values{Prompt: prompt, Suffix: suffix}
	if suffix == "" {
		v = template.Values{Messages: []api.Message{{Role: "user", Content: prompt}}}
	}
	setThink(&v, think)
	return v
}

// fromValues takes values as they stand or, if asked, as the server would have set their three think fields.
func fromValues(raw json.RawMessage, serve, thinks bool) (template.Values, *failure) {
	var x values
	if err := json.Unmarshal(raw, &x); err != nil {
		return template.Values{}, fail("request", err)
	}
	v := template.Values{Messages: x.Messages, Tools: x.Tools, Prompt: x.Prompt, Suffix: x.Suffix,
		Think: x.Think, ThinkLevel: x.ThinkLevel, IsThinkSet: x.IsThinkSet}
	if serve {
		var think *api.ThinkValue
		switch {
		case x.IsThinkSet && x.ThinkLevel != "":
			think = &api.ThinkValue{Value: x.ThinkLevel}
		case x.IsThinkSet:
			think = &api.ThinkValue{Value: x.Think}
		}
		setThink(&v, served(think, thinks))
	}
	return v, nil
}

// served is the server's default: a model that can think does, unless the request says otherwise.
func served(think *api.ThinkValue, thinks bool) *api.ThinkValue {
	if think == nil && thinks {
		return &api.ThinkValue{Value: true}
	}
	return think
}

func setThink(v *template.Values, think *api.ThinkValue) {
	v.Think, v.ThinkLevel, v.IsThinkSet = think.Bool(), think.String(), think != nil
}

// tagImages puts [img-N] before the content or in place of its next [img] (imageTaggedMessages in server/prompt.go).
func tagImages(messages []api.Message) []api.Message {
	n := 0
	for i := range messages {
		prefix, content := "", messages[i].Content
		for range messages[i].Images {
			tag := fmt.Sprintf("[img-%d]", n)
			n++
			if strings.Contains(content, "[img]") {
				content = strings.Replace(content, "[img]", tag, 1)
			} else {
				prefix += tag
			}
		}
		messages[i].Content = prefix + content
	}
	return messages
}
