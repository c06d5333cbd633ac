package config

// Error is one mistake in a config file, with its place. Several are joined by errors.Join.
type Error struct {
	File    string
	Line    int // from 1; 0: the file as a whole
	Column  int // from 1, in characters; 0: the line as a whole
	Message string
	Hint    string // what to do; may be empty
	Snippet string // the line with a caret under the place, secrets masked
}

func (e *Error) Error() string { return e.Message }
