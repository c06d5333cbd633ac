// Package openai speaks the wire of OpenAI's HTTP API: one streaming request in, one timed [bench.Request] out.
//
// A [Client] belongs to one target. [Client.Preflight] learns what the server obeys, [Client.Open] opens connections
// before a run, [Client.Do] sends one request and times its answer. Every moment is the arrival of bytes, taken before
// they are parsed.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"
)

// The two endpoints that can be measured: values of Options.API.
const (
	Chat        = "chat"        // POST {base}/chat/completions
	Completions = "completions" // POST {base}/completions
)

// The names under which a server may take the limit on output tokens: values of Options.LimitField.
const (
	Auto                = "auto" // as Preflight finds; max_tokens until then
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens"
)

// Options describe a target and how to ask it. BaseURL and Model are required.
type Options struct {
	BaseURL string // as far as the version: http://127.0.0.1:8000/v1
	Model   string
	API     string // Chat or Completions; empty is Chat
	// APIKey goes into the Authorization header and into nothing else: no message, no file. Empty sends none.
	APIKey     string
	LimitField string // Auto, MaxTokens or MaxCompletionTokens; empty is Auto
	// Temperature is sent with every request; nil leaves it to the server.
	Temperature *float64
	// ExtraBody is merged into every request, one level deep, and wins. Keys that the measurement owns are refused.
	ExtraBody map[string]any
	Timeouts  Timeouts
	// Metrics is the path of Prometheus metrics on the server's origin, which Preflight looks at; empty: it does not.
	Metrics string
	// Connections is how many connections are kept between requests. Zero is 1024.
	Connections int
	// KeepText keeps the text of each answer in its Request.
	KeepText bool
	// Dial opens connections; nil is the network. Tests put a server in memory with it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Timeouts bound the phases of one request. A zero field has its default.
type Timeouts struct {
	Connect    time.Duration // to an open connection, TLS included; 10 s
	FirstToken time.Duration // from sending to the first token; 5 min
	Idle       time.Duration // between two events that carry data; 60 s. Comments do not count.
	Total      time.Duration // from sending to the end; 30 min
}

// Client sends requests to one target. It is safe for concurrent use, but for Apply.
type Client struct {
	options Options
	base    *url.URL
	limit   string // the limit field in use
	fixed   []byte // members of the body that every request shares
	before  []byte // the head of every request as far as the length of its body,
	after   []byte // and what follows that
	wire    *wire
	redact  redactor
	buffers *sync.Pool // of read buffers
	room    *room      // for the answers at hand
}

// New checks the options and returns a client. It does not talk to the server. Close it when done.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	base, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	fixed, err := fixedBody(o, true)
	if err != nil {
		return nil, err
	}
	c := &Client{options: o, base: base, limit: o.LimitField, fixed: fixed, redact: redactor{o.APIKey}, room: &room{most: mostHeld}}
	if c.limit == Auto {
		c.limit = MaxTokens
	}
	if c.before, c.after, err = c.head(); err != nil {
		return nil, err
	}
	c.wire = newWire(base, o)
	c.buffers = &sync.Pool{New: func() any { b := make([]byte, readSize); return &b }}
	return c, nil
}

// Close closes every kept connection. Requests in flight are not interrupted.
func (c *Client) Close() { c.wire.close() }

// Address is the address that the target's name stood for when a connection was last opened; empty before.
func (c *Client) Address() string { return c.wire.dialer.address() }

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&o.Timeouts.Connect, 10*time.Second)
	set(&o.Timeouts.FirstToken, 5*time.Minute)
	set(&o.Timeouts.Idle, time.Minute)
	set(&o.Timeouts.Total, 30*time.Minute)
	if o.API == "" {
		o.API = Chat
	}
	if o.LimitField == "" {
		o.LimitField = Auto
	}
	if o.Connections <= 0 {
		o.Connections = 1024
	}
	return o
}

func (o Options) check() error {
	if o.Model == "" {
		return errors.New("no model named: set target.model")
	}
	switch o.API {
	case Chat, Completions:
	default:
		return fmt.Errorf("unknown api %q: want %s or %s", o.API, Chat, Completions)
	}
	switch o.LimitField {
	case Auto, MaxTokens, MaxCompletionTokens:
	default:
		return fmt.Errorf("unknown limit field %q: want %s, %s or %s", o.LimitField, Auto, MaxTokens, MaxCompletionTokens)
	}
	for _, r := range o.APIKey {
		if r <= ' ' || r > '~' {
			return errors.New("the API key holds a character that cannot stand in a header: is there a line break at its end?")
		}
	}
	return nil
}

func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		// The parser's error repeats the URL, and a URL may hold a password.
		return nil, errors.New("target.base_url is not a URL")
	case u.User != nil:
		return nil, errors.New("target.base_url holds a user name or password: put the key into an environment variable and name it in target.api_key_env")
	case (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Hostname() == "":
		return nil, fmt.Errorf("target.base_url %q: want http://HOST:PORT/v1 or https://HOST/v1", raw)
	}
	return u, nil
}
