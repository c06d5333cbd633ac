package github

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	api "github.com/google/go-github/v66/github"
)

const (
	callsMost    = 12               // calls of one client, whatever a campaign holds
	budget       = 90 * time.Second // time that publishing may take in all
	pageSize     = 100
	statusesKept = 4 // calls that a comment leaves for statuses, if there are so many
)

// ClientOptions say whom a Client talks to.
type ClientOptions struct {
	API        string        // base address, such as "https://api.github.com" or "https://host/api/v3"; https, or a loopback host
	Token      string        // never printed
	Repository string        // "owner/name"
	Budget     time.Duration // time for all calls together; 0 means 90 s
	Say        func(string)  // talk on what is being waited for; may be nil
	// Transport carries the calls. Nil means the usual one, which heeds the proxies and the authority (SSL_CERT_FILE) that
	// the environment of the process names.
	Transport http.RoundTripper
}

// Client talks to GitHub's API about one repository. All its calls together keep within one budget of time and number. It
// is not for use by several goroutines.
type Client struct {
	api    *api.Client
	wire   *wire
	owner  string
	name   string
	token  string
	budget time.Duration
	say    func(string)
	login  string // who the token writes as; "" unknown
	// deadline is when the budget is spent; zero before the first call.
	deadline time.Time
}

// NewClient checks the options; it makes no call.
func NewClient(o ClientOptions) (*Client, error) {
	base, err := baseAddress(o.API)
	if err != nil {
		return nil, err
	}
	token := strings.TrimSpace(o.Token)
	switch {
	case token == "":
		return nil, errors.New(`publish: no token; give the action "token: ${{ github.token }}"`)
	case !validRepository(o.Repository):
		return nil, fmt.Errorf("publish: repository %q is not owner/name", cut(o.Repository, 80))
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("publish: the token holds characters that no token has")
	}
	owner, name, _ := strings.Cut(o.Repository, "/")
	c := &Client{owner: owner, name: name, token: token, budget: o.Budget, say: o.Say}
	if c.budget <= 0 {
		c.budget = budget
	}
	if c.say == nil {
		c.say = func(string) {}
	}
	transport := o.Transport
	if transport == nil {
		if transport, err = environmentTransport(); err != nil {
			return nil, err
		}
	}
	c.wire = &wire{next: transport, most: callsMost}
	c.api = api.NewClient(retrying(c.wire)).WithAuthToken(token)
	c.api.BaseURL = base
	c.api.UserAgent = "benchgate"
	return c, nil
}

// baseAddress is the address that every path is put behind.
func baseAddress(s string) (*url.URL, error) {
	if s == "" {
		s = githubAPI
	}
	u, err := url.Parse(strings.TrimRight(s, "/") + "/")
	if strings.Contains(s, "@") { // and the message does not repeat it
		return nil, errors.New("publish: api-url holds a name or a password; give the action `token` instead")
	}
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("publish: api-url %q is not an address such as %s", cut(s, 80), githubAPI)
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("publish: api-url %q must be https: the token would travel in the open", cut(s, 80))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// within is a context that ends with the budget of the client.
func (c *Client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.deadline.IsZero() {
		c.deadline = time.Now().Add(c.budget)
	}
	return context.WithDeadlineCause(ctx, c.deadline, errBudget)
}

// Pull reads one pull request of the repository.
func (c *Client) Pull(ctx context.Context, number int) (Pull, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	if number <= 0 {
		return Pull{}, fmt.Errorf("read pull request %d: no such number", number)
	}
	p, err := c.pull(ctx, number)
	if err != nil {
		return Pull{}, errors.New(c.sentence(fmt.Sprintf("read pull request %d", number), "pull-requests: read", err))
	}
	return p, nil
}

// pull returns the error as the library has it.
func (c *Client) pull(ctx context.Context, number int) (Pull, error) {
	var p *api.PullRequest
	err := c.call(ctx, func() (_ *api.Response, err error) {
		var r *api.Response
		p, r, err = c.api.PullRequests.Get(ctx, c.owner, c.name, number)
		return r, err
	})
	if err != nil {
		return Pull{}, err
	}
	e := eventPull{
		Number: p.GetNumber(), Draft: p.GetDraft(), State: p.GetState(),
		Head: &eventTip{SHA: p.GetHead().GetSHA(), Ref: p.GetHead().GetRef()},
		Base: &eventTip{SHA: p.GetBase().GetSHA(), Ref: p.GetBase().GetRef()},
	}
	if full := p.GetHead().GetRepo().GetFullName(); full != "" {
		e.Head.Repo = &eventRepo{FullName: full}
	}
	pull, err := e.pull(c.owner + "/" + c.name)
	if err != nil {
		return Pull{}, fmt.Errorf("the answer makes no sense: %w", err)
	}
	return *pull, nil
}
