package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/config"
)

func TestCommandLinesHideSecrets(t *testing.T) {
	token := "hf_" + strings.Repeat("z", 34)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing to hide", []string{"vllm", "serve", "m", "--port", "{port}"}, "vllm serve m --port {port}"},
		{"flag, value", []string{"s", "--hf-token", "abc123"}, "s --hf-token ***"},
		{"flag=value", []string{"s", "--api-key=abc"}, "s --api-key=***"},
		{"flag=value with blanks", []string{"s", "--api-key=abc def"}, "s --api-key=***"},
		{"flag=value with signs", []string{"s", "--api-key=a!=b"}, "s --api-key=***"},
		{"flag without a value", []string{"s", "--api-key", "--other", "x"}, "s --api-key --other x"},
		{"last flag", []string{"s", "--key"}, "s --key"},
		{"camel", []string{"s", "--apiKey=abc"}, "s --apiKey=***"},
		{"single dash", []string{"s", "-token", "abc"}, "s -token ***"},
		{"variable", []string{"env", "HF_TOKEN=abc", "s"}, "env HF_TOKEN=*** s"},
		{"variable behind a flag", []string{"docker", "run", "--env=HF_TOKEN=" + token, "i"}, "docker run --env=HF_TOKEN=*** i"},
		{"variable, any value", []string{"docker", "--env=HF_TOKEN=abc", "-e", "MY_SECRET=x y", "-eDB_PASSWORD=a"}, "docker --env=HF_TOKEN=*** -e MY_SECRET=*** -eDB_PASSWORD=***"},
		{"variables in a list", []string{"s", "--env=A=1,API_KEY_2=abc"}, "s --env=A=1,API_KEY_2=***"},
		{"numbered and suffixed", []string{"A_TOKEN2=x", "OPENAI_API_KEY_PROD=x", "AWS_SECRET_ACCESS_KEY=x", "AUTH_TOKENS=x"}, "A_TOKEN2=*** OPENAI_API_KEY_PROD=*** AWS_SECRET_ACCESS_KEY=*** AUTH_TOKENS=***"},
		{"header", []string{"s", "-H", "X-Auth: abc", "--header=Bearer_x", "--header", "abc"}, "s -H *** --header=*** --header ***"},
		{"script", []string{"sh", "-c", "HF_TOKEN=abc exec vllm serve m --api-key xyz --port 1"}, "sh -c 'HF_TOKEN=*** exec vllm serve m --api-key *** --port 1'"},
		{"script with quotes", []string{"bash", "-lc", `export T="` + token + `"; PASSWORD='a b' s --token "c d" -H "X: e" -p 1`}, `bash -lc 'export T="***"; PASSWORD=*** s --token *** -H *** -p 1'`},
		{"JSON", []string{"s", "--config", `{"api_key":"abc def","n":1}`}, `s --config '{"api_key":***,"n":1}'`},
		{"header in JSON", []string{"s", `--x={"Authorization": "Bearer abc"}`}, `s '--x={"Authorization": ***}'`},
		{"header in the open", []string{"s", "Authorization: Bearer abc", "Authorization: Basic dXNlcjpw"}, `s 'Authorization: ***' 'Authorization: ***'`},
		{"token shapes", []string{token, "sk-123", "ghp_abc", "AKIA", "Bearer x"}, "*** *** *** *** ***"},
		{"token shapes inside", []string{"a:" + token, "x,sk-abcdef1,y", "(ghp_abcdef1)", "https://h/AKIAABCDEFGHIJKLMNOP", "a bearer abc"}, "a:*** x,***,y '(***)' https://h/*** 'a ***'"},
		{"address", []string{"s", "--proxy", "http://u:p@host:1/x"}, "s --proxy http://***@host:1/x"},
		{
			"what only sounds like it",
			[]string{"s", "--max-num-batched-tokens", "8192", "--tokenizer=t", "--max_tokens=5", "--pad-token-id=0", "--hf_overrides", "{}", "--ssl-keyfile=k.pem", "TOKENIZERS_PARALLELISM=false", "MONKEY=1", "task-desk-top-1", "risk-averse"},
			"s --max-num-batched-tokens 8192 --tokenizer=t --max_tokens=5 --pad-token-id=0 --hf_overrides {} --ssl-keyfile=k.pem TOKENIZERS_PARALLELISM=false MONKEY=1 task-desk-top-1 risk-averse",
		},
		{"quotes", []string{"s", "it's $x", ""}, `s 'it'\''s $x' ''`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, commandLine(c.args)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.args, diff)
			}
		})
	}
}

func TestSecretsOfATarget(t *testing.T) {
	environment := map[string]string{
		"MY_KEY": "key-of-env", "HF_TOKEN": "token-of-env", "PIN_SECRET": "12345", "CUDA_VISIBLE_DEVICES": "0,1,2,3", "OTHER_TOKEN": "not-passed",
	}
	target := config.Target{
		APIKeyEnv: "MY_KEY", PassEnv: []string{"HF_TOKEN", "CUDA_VISIBLE_DEVICES", "PIN_SECRET", "ABSENT_TOKEN"},
		Env: map[string]string{"DB_PASSWORD": "password-of-file", "LEVEL": "debugging", "API_KEY": "key-given"},
	}
	want := []string{"key-given", "key-of-env", "password-of-file", "token-of-env"}
	if diff := cmp.Diff(want, Secrets(target, "key-given", func(name string) string { return environment[name] })); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

func TestRedactHidesSecretsWhole(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"key=abcdef; long=abcdefgh\nabcdef", "key=[redacted]; long=[redacted]\n[redacted]"},
		{"five 12345 stays", "five 12345 stays"},
		{"\xff\x00abcdef", "\xff\x00[redacted]"},
		{"two\nlines", "[redacted]"},
		{"", ""},
	} {
		got := string(Redact([]byte(c.text), []string{"", "12345", "abcdef", "abcdefgh", "redact", "two\nlines"}))
		if got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
	if got := Redact([]byte("text"), nil); string(got) != "text" {
		t.Errorf("without secrets: %q", got)
	}
}

func TestLastWordsHideWhatTheEnvironmentGives(t *testing.T) {
	t.Setenv("HF_TOKEN", "tokenofenv")
	o := options(t, "fails", "tokenofenv")
	o.Target.PassEnv = []string{"HF_TOKEN"}
	_, err := start(t.Context(), o, quick)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	if words := e.LastWords(); !strings.Contains(words, "key [redacted]") || strings.Contains(words, "tokenofenv") {
		t.Errorf("last words %q", words)
	}
}
