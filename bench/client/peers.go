package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// own are the two clients written in Go: benchgate's, and the bare read loop.
func own(name string, bare bool) tool {
	return tool{
		name: name,
		command: func(j job, _ string) (*exec.Cmd, error) {
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			text, err := json.Marshal(j)
			return pinned(self, "play", "-job", string(text), "-bare="+strconv.FormatBool(bare)), err
		},
		read: func(_ job, _ string, stdout []byte) (account, error) {
			var a account
			err := json.Unmarshal(stdout, &a)
			return a, err
		},
	}
}

// origin is the server without the version in its path.
func (j job) origin() string { return strings.TrimSuffix(j.Base, "/v1") }

// prompts writes one JSON object a line.
func (j job) prompts(path string, line func(prompt string) any) error {
	var b bytes.Buffer
	for i := range j.Requests {
		text, err := json.Marshal(line(prompt(i)))
		if err != nil {
			return err
		}
		b.Write(append(text, '\n'))
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// environment keeps a peer off the network and its temporary files in the folder of the job.
func environment(cmd *exec.Cmd, folder string) *exec.Cmd {
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "HOME="+folder, "HF_HOME="+folder, "NO_COLOR=1", "NO_PROXY=127.0.0.1", "DO_NOT_TRACK=1")
	return cmd
}

// guidellm as it comes, but that it is told the prompts and that no console is drawn.
func guidellm(python string) tool {
	return tool{
		name: "guidellm",
		command: func(j job, folder string) (*exec.Cmd, error) {
			line := func(p string) any { return map[string]any{"prompt": p, "output_tokens_count": tokens} }
			if err := j.prompts(filepath.Join(folder, "prompts.jsonl"), line); err != nil {
				return nil, err
			}
			profile := fmt.Sprintf("kind=concurrent,streams=%d", j.Streams)
			if j.Load == open {
				profile = fmt.Sprintf("kind=poisson,rate=%g", j.Rate)
			}
			cmd := pinned(beside(python, "guidellm"), "run",
				"--backend", fmt.Sprintf("kind=openai_http,target=%s,model=%s,max_tokens=%d", j.origin(), j.Model, tokens),
				"--profile", profile, "--constraint", fmt.Sprintf("kind=max_requests,count=%d", j.Requests),
				"--data", "kind=json_file,path=prompts.jsonl", "--output", "kind=json,path=out.json", "--disable-console")
			return environment(cmd, folder), nil
		},
		read: func(_ job, folder string, _ []byte) (account, error) {
			f, err := os.Open(filepath.Join(folder, "out.json"))
			if err != nil {
				return account{}, err
			}
			defer f.Close()
			return readGuidellm(f)
		},
	}
}

// beside is a program in the folder of the Python that it belongs to.
func beside(python, program string) string { return filepath.Join(filepath.Dir(python), program) }

type guidellmRequest struct {
	TTFT *float64 `json:"time_to_first_token_ms"`
	// ITL is what guidellm calls inter-token latency: (last − first) ÷ (tokens − 1), benchgate's tpot.
	ITL  *float64 `json:"inter_token_latency_ms"`
	Info struct {
		Error *string `json:"error"`
	} `json:"info"`
}

func readGuidellm(r io.Reader) (account, error) {
	var file struct {
		Metadata struct {
			Version string `json:"guidellm_version"`
		} `json:"metadata"`
		Benchmarks []struct {
			Requests struct{ Successful, Errored, Incomplete []guidellmRequest } `json:"requests"`
		} `json:"benchmarks"`
	}
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		return account{}, fmt.Errorf("guidellm's report: %w", err)
	}
	if len(file.Benchmarks) != 1 {
		return account{}, fmt.Errorf("guidellm's report holds %d benchmarks", len(file.Benchmarks))
	}
	a, requests := account{Version: file.Metadata.Version}, file.Benchmarks[0].Requests
	for _, q := range requests.Successful {
		if q.TTFT == nil || q.ITL == nil {
			a.Failed = append(a.Failed, "a successful request without times")
			continue
		}
		a.TTFT, a.TPOT = append(a.TTFT, *q.TTFT/1000), append(a.TPOT, *q.ITL/1000)
	}
	for _, q := range requests.Errored {
		a.Failed = append(a.Failed, told(q.Info.Error, "errored"))
	}
	for _, q := range requests.Incomplete {
		a.Failed = append(a.Failed, told(q.Info.Error, "incomplete"))
	}
	return a, nil
}

func told(s *string, otherwise string) string {
	if s == nil || *s == "" {
		return otherwise
	}
	return *s
}

// tokenizer is one of a single unknown word: aiperf loads one even when it is told to take the server's counts.
const tokenizer = `{"version":"1.0","added_tokens":[],"pre_tokenizer":{"type":"WhitespaceSplit"},` +
	`"model":{"type":"WordLevel","vocab":{"?":0},"unk_token":"?"}}`

// aiperf as it comes, but that it is told the prompts and takes the server's counts of tokens, and that what is no matter of
// the client is switched off: metrics of the server and of a GPU, and the screen.
func aiperf(python string) tool {
	return tool{
		name: "aiperf",
		command: func(j job, folder string) (*exec.Cmd, error) {
			line := func(p string) any { return map[string]any{"text": p, "output_length": tokens} }
			err := errors.Join(
				j.prompts(filepath.Join(folder, "prompts.jsonl"), line),
				os.MkdirAll(filepath.Join(folder, "tokenizer"), 0o700),
				os.WriteFile(filepath.Join(folder, "tokenizer", "tokenizer.json"), []byte(tokenizer), 0o600),
				os.WriteFile(filepath.Join(folder, "tokenizer", "tokenizer_config.json"), []byte(`{"tokenizer_class":"PreTrainedTokenizerFast","unk_token":"?","eos_token":"?"}`), 0o600),
			)
			args := []string{
				"profile", "-m", j.Model, "-u", j.origin(), "--endpoint-type", "chat", "--streaming",
				"--request-count", strconv.Itoa(j.Requests), "--input-file", "prompts.jsonl", "--custom-dataset-type", "single_turn",
				"--use-server-token-count", "--extra-inputs", "ignore_eos:true", "--no-server-metrics", "--no-gpu-telemetry",
				"--ui", "none", "--artifact-dir", "out", "--tokenizer", filepath.Join(folder, "tokenizer"),
			}
			if j.Load == open {
				args = append(args, "--request-rate", fmt.Sprint(j.Rate), "--arrival-pattern", "poisson")
			} else {
				args = append(args, "--concurrency", strconv.Itoa(j.Streams))
			}
			return environment(pinned(beside(python, "aiperf"), args...), folder), err
		},
		read: func(_ job, folder string, _ []byte) (account, error) {
			f, err := os.Open(filepath.Join(folder, "out", "profile_export.jsonl"))
			if err != nil {
				return account{}, err
			}
			defer f.Close()
			a, err := readAIPerf(f)
			if err != nil {
				return account{}, err
			}
			var summary struct {
				Version string `json:"aiperf_version"`
			}
			text, err := os.ReadFile(filepath.Join(folder, "out", "profile_export_aiperf.json"))
			if err == nil {
				err = json.Unmarshal(text, &summary)
			}
			a.Version = summary.Version
			return a, err
		},
	}
}

func readAIPerf(r io.Reader) (account, error) {
	var a account
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var q struct {
			Metrics map[string]json.RawMessage `json:"metrics"`
			Error   *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return account{}, fmt.Errorf("aiperf's records: %w", err)
		}
		first, ok1 := inMillis(q.Metrics["time_to_first_token"])
		each, ok2 := inMillis(q.Metrics["inter_token_latency"])
		switch {
		case q.Error != nil:
			a.Failed = append(a.Failed, q.Error.Message)
		case !ok1 || !ok2:
			a.Failed = append(a.Failed, "a record without times")
		default:
			a.TTFT, a.TPOT = append(a.TTFT, first/1000), append(a.TPOT, each/1000)
		}
	}
	return a, lines.Err()
}

// inMillis reads a metric that must be in ms.
func inMillis(raw json.RawMessage) (float64, bool) {
	var m struct {
		Value *float64
		Unit  string
	}
	if json.Unmarshal(raw, &m) != nil || m.Value == nil || m.Unit != "ms" {
		return 0, false
	}
	return *m.Value, true
}
