package config_test

import (
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/config"
)

// holdsSecrets has a secret in every place where somebody might write one.
const holdsSecrets = `version: 1
runner: r1
target:
  base_url: http://me:TOPSECRET@127.0.0.1:8000/v1
  model: some/model
  api_key: TOPSECRET
  password: "TOPSECRET with blanks"
  api_key_env: sk-TOPSECRET
  token: |
    TOPSECRET
  command:
    - server
    - --api-key
    - TOPSECRET
    - --api-key=TOPSECRET
    - "Authorization: Bearer TOPSECRET"
  env:
    PLAIN: TOPSECRET
    HF_TOKEN: TOPSECRET

    FOLDED: >
      TOPSECRET
  pass_env: [hf_TOPSECRET]
reference:
  command: [server, --api-key, TOPSECRET, --port, 1]
  env: {PLAIN: TOPSECRET, OTHER: TOPSECRET}
sampling: {extra_body: {api_key: TOPSECRET, nested: {secret: TOPSECRET}}}
scenarios:
  chat:
    dataset: {kind: random, input_tokens: 32}
    output_tokens: 16
    load: {concurrency: 4, requests: 60}
`

func refuses(t *testing.T, what, text string) {
	t.Helper()
	_, err := config.Parse("x.yaml", []byte(text))
	if err == nil {
		t.Errorf("%s: accepted", what)
	} else if strings.Contains(err.Error(), "TOPSECRET") {
		t.Errorf("%s: the message holds a secret:\n%v", what, err)
	}
	_, err = config.Set([]byte(text), "runner", "r2")
	if err != nil && strings.Contains(err.Error(), "TOPSECRET") {
		t.Errorf("%s: the message of Set holds a secret:\n%v", what, err)
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	refuses(t, "as it is", holdsSecrets)
	lines := strings.SplitAfter(holdsSecrets, "\n")
	for i := range lines {
		before, line, after := strings.Join(lines[:i], ""), lines[i], strings.Join(lines[i+1:], "")
		for _, broken := range []string{
			strings.TrimRight(line, "\n") + " }\n", strings.TrimRight(line, "\n") + ": {\n", strings.TrimRight(line, "\n") + " \"\n",
			strings.TrimRight(line, "\n") + "\x01\n", " " + line, "\t" + line, line + "    - [\n", line + "  ? x\n", line + "*a\n", line + line,
		} {
			refuses(t, "a mistake at "+line, before+broken+after)
		}
		refuses(t, "cut before "+line, before)
		if !strings.Contains(line, "env:") { // without this line, what stands under it is plain text
			refuses(t, "without "+line, before+after)
		}
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	for i := range holdsSecrets {
		if i > 10 && i%step == 0 {
			refuses(t, "cut", holdsSecrets[:i])
		}
	}
}
