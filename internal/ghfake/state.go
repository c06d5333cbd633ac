package ghfake

import (
	"cmp"
	"slices"
	"time"
)

// Bot is the login of the token that a workflow gets by itself.
const Bot = "github-actions[bot]"

// Comment is one comment below an issue or a pull request.
type Comment struct {
	ID      int64     `json:"id"`      // 0 in a seed: the fake takes the next one
	Issue   int       `json:"issue"`   // the number of the issue or pull request
	Author  string    `json:"author"`  // a login; "" is Bot
	Body    string    `json:"body"`    //
	Created time.Time `json:"created"` // zero in a seed: now
	Updated time.Time `json:"updated"` //
}

// Status is a word about a commit.
type Status struct {
	SHA         string `json:"sha"`
	Context     string `json:"context"`
	State       string `json:"state"`
	Description string `json:"description"`
	TargetURL   string `json:"target_url"`
	Creator     string `json:"creator"`
}

// Pull is a pull request.
type Pull struct {
	Number         int    `json:"number"` // 0 in a seed: the fake takes the next one
	Title          string `json:"title"`
	Body           string `json:"body"`
	State          string `json:"state"` // "open" or "closed"; "" is open
	Author         string `json:"author"`
	HeadRef        string `json:"head_ref"`
	HeadSHA        string `json:"head_sha"`
	HeadRepository string `json:"head_repository"` // "" where it was deleted
	BaseRef        string `json:"base_ref"`
	BaseSHA        string `json:"base_sha"`
	Draft          bool   `json:"draft"`
	Locked         bool   `json:"locked"` // the conversation: nobody may comment
}

// State is all that the fake knows. Its slices are in the order in which things were made.
type State struct {
	Comments []Comment `json:"comments"`
	Statuses []Status  `json:"statuses"`
	Pulls    []Pull    `json:"pulls"`
}

func (s *State) comment(id int64) *Comment {
	if i := slices.IndexFunc(s.Comments, func(c Comment) bool { return c.ID == id }); i >= 0 {
		return &s.Comments[i]
	}
	return nil
}

func (s *State) pull(number int) *Pull {
	if i := slices.IndexFunc(s.Pulls, func(p Pull) bool { return p.Number == number }); i >= 0 {
		return &s.Pulls[i]
	}
	return nil
}

// AddComment puts a comment there, as if somebody had written it, and returns its number.
func (s *State) AddComment(c Comment) int64 {
	if c.ID == 0 {
		c.ID = 1001
		for _, o := range s.Comments {
			c.ID = max(c.ID, o.ID+1)
		}
	}
	c.Author = cmp.Or(c.Author, Bot)
	if c.Created.IsZero() {
		c.Created = time.Now().UTC().Truncate(time.Second)
	}
	if c.Updated.IsZero() {
		c.Updated = c.Created
	}
	s.Comments = append(s.Comments, c)
	return c.ID
}

// DeleteComment takes a comment away, and says whether it was there.
func (s *State) DeleteComment(id int64) bool {
	n := len(s.Comments)
	s.Comments = slices.DeleteFunc(s.Comments, func(c Comment) bool { return c.ID == id })
	return len(s.Comments) < n
}

// AddPull puts a pull request there, and returns its number.
func (s *State) AddPull(p Pull) int {
	if p.Number == 0 {
		p.Number = 1
		for _, o := range s.Pulls {
			p.Number = max(p.Number, o.Number+1)
		}
	}
	p.State = cmp.Or(p.State, "open")
	p.Author = cmp.Or(p.Author, Bot)
	p.BaseRef = cmp.Or(p.BaseRef, "main")
	s.Pulls = append(s.Pulls, p)
	return p.Number
}

// clone is a copy that later calls do not change.
func (s *State) clone() State {
	return State{slices.Clone(s.Comments), slices.Clone(s.Statuses), slices.Clone(s.Pulls)}
}
