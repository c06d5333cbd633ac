package openai

import (
	"slices"
	"testing"
)

func TestTokenize(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		ids          []int
		ok           bool
	}{
		{"llama-server", recorded(t, "llama/tokenize.http"), []int{818, 3823, 8864, 37423, 38167, 1024, 506, 31770, 4799, 236761}, true},
		{"vLLM", `{"count":2,"max_model_len":4096,"tokens":[1,2],"token_strs":null}`, []int{1, 2}, true},
		{"none", "", nil, false},
		{"something else", `{"ok":true}`, nil, false},
	} {
		ids, ok, err := client(t, serve(t, &fake{tokenize: tt.answer})).Tokenize(t.Context(), "hello")
		if err != nil || ok != tt.ok || !slices.Equal(ids, tt.ids) {
			t.Errorf("%s: %v %v %v", tt.name, ids, ok, err)
		}
	}
}
