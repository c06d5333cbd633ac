package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/bench"
)

// maxFact bounds the body of an answer about the server itself, in bytes.
const maxFact = 8 << 20

// identify finds out what the server is. Nothing in it is required: what does not answer stays unknown.
func (p *probe) identify(ctx context.Context) {
	p.models(ctx)
	p.props(ctx)
	for _, path := range []string{"version", "api/version", "get_server_info", "info"} { // vLLM; Ollama; SGLang; TGI
		var v struct {
			Version string
			Router  string // TGI
		}
		if p.caps.Facts[bench.KeyVersion] != "" || !p.get(ctx, p.c.beside(path), &v) {
			continue
		}
		p.fact(bench.KeyVersion, v.Version)
		switch {
		case v.Version == "":
		case path == "api/version":
			p.fact(bench.KeyEngine, "ollama")
		case v.Router == "text-generation-router":
			p.fact(bench.KeyEngine, "tgi")
		}
	}
}

// fact notes something about the server, once.
func (p *probe) fact(name, value string) {
	if value = shorten(p.c.redact.clean(value), 200); value != "" && p.caps.Facts[name] == "" {
		p.caps.Facts[name] = value
	}
}

// engines are the names that servers give themselves as the owner of a model, where it is not the engine's own.
var engines = map[string]string{"llamacpp": "llama.cpp", "library": "ollama"}

func (p *probe) models(ctx context.Context) {
	var list struct {
		Data []struct {
			ID      string
			OwnedBy string `json:"owned_by"`
			Aliases []string
			Meta    struct {
				Ftype string
				Ctx   int `json:"n_ctx"`
			}
			MaxModelLen int `json:"max_model_len"`
		}
	}
	if !p.get(ctx, p.c.under("models"), &list) {
		return
	}
	wanted := p.c.options.Model
	for _, m := range list.Data {
		p.caps.Models = append(p.caps.Models, shorten(p.c.redact.clean(m.ID), 100))
		named := m.ID == wanted || m.ID == wanted+":latest" || isFile(m.ID, wanted) || slices.Contains(m.Aliases, wanted)
		p.caps.ModelListed = p.caps.ModelListed || named
		if !named && len(list.Data) > 1 {
			continue
		}
		if owner := m.OwnedBy; engines[owner] != "" {
			p.fact(bench.KeyEngine, engines[owner])
		} else if slices.Contains(obeying, owner) {
			p.fact(bench.KeyEngine, owner)
		}
		p.fact("quantisation", m.Meta.Ftype)
		p.fact("context", positive(max(m.Meta.Ctx, m.MaxModelLen)))
	}
}

// isFile reports whether an id is the path of the wanted model's file: llama-server without --alias names models so.
func isFile(id, wanted string) bool {
	return strings.HasPrefix(id, "/") && id[strings.LastIndexByte(id, '/')+1:] == wanted
}

// props asks llama-server.
func (p *probe) props(ctx context.Context) {
	var v struct {
		Build string `json:"build_info"`
		Model string `json:"model_path"`
		Ftype string `json:"model_ftype"`
		Slots int    `json:"total_slots"`
		Gen   struct {
			Ctx int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if !p.get(ctx, p.c.beside("props"), &v) {
		return
	}
	p.fact(bench.KeyVersion, v.Build)
	p.fact("model_file", v.Model[strings.LastIndexAny(v.Model, `/\`)+1:])
	p.fact("quantisation", v.Ftype)
	p.fact("slots", positive(v.Slots))
	p.fact("context", positive(v.Gen.Ctx))
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// get reads a JSON answer into v, as far as it fits. False: there is none.
func (p *probe) get(ctx context.Context, url string, v any) bool {
	if p.mute {
		return false
	}
	status, header, body, err := p.c.plain(ctx, http.MethodGet, url, nil)
	p.mute = err != nil
	if err != nil || status != http.StatusOK {
		return false
	}
	name, _, _ := strings.Cut(header.Get("Server"), "/")
	if name == "llama.cpp" {
		p.fact(bench.KeyEngine, name)
	}
	p.fact("server", header.Get("Server"))
	err = json.Unmarshal(body, v)
	var other *json.UnmarshalTypeError // one member is not what we know; the rest is read
	return err == nil || errors.As(err, &other)
}

// plain is one request with an answer that is no stream, within 10 s.
func (c *Client) plain(ctx context.Context, method, url string, body []byte) (int, http.Header, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	c.sign(req)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.wire.plain.RoundTrip(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxFact))
	return resp.StatusCode, resp.Header, answer, err
}

// Tokenize asks the server for the token ids of a text, without special tokens: POST /tokenize of llama-server, vLLM and
// SGLang, who each take another member of the body. False: the server has no such endpoint.
func (c *Client) Tokenize(ctx context.Context, text string) (ids []int, ok bool, err error) {
	body, err := json.Marshal(map[string]any{
		"model": c.options.Model, "prompt": text, "content": text, "add_special": false, "add_special_tokens": false,
	})
	if err != nil {
		return nil, false, err
	}
	status, _, answer, err := c.plain(ctx, http.MethodPost, c.beside("tokenize"), body)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("tokenize: %s", c.redact.clean(classify(context.Cause(ctx), err).message))
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusNotImplemented:
		return nil, false, nil
	case status != http.StatusOK:
		return nil, true, fmt.Errorf("tokenize: HTTP %d: %s", status, c.redact.clean(said(answer)))
	}
	var v struct{ Tokens []int }
	if err := json.Unmarshal(answer, &v); err != nil || (len(v.Tokens) == 0 && text != "") {
		return nil, false, nil // something else lives at that path
	}
	return v.Tokens, true, nil
}
