package config

import (
	"reflect"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// The file as it is written. These structs are the one place where its keys stand: the strict reader, the hints for
// misspelt keys and the JSON Schema are all made from them.

// block is a mapping of the file with its place. The zero value is a key that the file does not have.
type block[T any] struct {
	node ast.Node
	v    T
}

// UnmarshalYAML reads the keys of the mapping strictly, and keeps its place.
func (b *block[T]) UnmarshalYAML(n ast.Node) error {
	b.node = n
	return yaml.NodeToValue(n, &b.v, yaml.Strict())
}

func (b block[T]) given() bool { return b.node != nil }

// JSONSchemaAlias says that in the JSON Schema a block is what it holds.
func (b block[T]) JSONSchemaAlias() any { return b.v }

func (b block[T]) inner() reflect.Type { return reflect.TypeFor[T]() }

// blocky is any block, for those who walk the types.
type blocky interface{ inner() reflect.Type }

// body is a mapping of anything: it goes into the request's JSON.
type body struct{ scalar }

type file struct {
	Version   count                      `yaml:"version" jsonschema:"required,enum=1" jsonschema_description:"Version of this format: 1."`
	Runner    label                      `yaml:"runner" jsonschema:"required" jsonschema_description:"Name of the machine that measures; it names the folder under baselines/."`
	Target    block[target]              `yaml:"target" jsonschema:"required" jsonschema_description:"The server under test."`
	Reference block[target]              `yaml:"reference" jsonschema_description:"The build to compare with in the same campaign. It inherits every key of target that it does not set, as target stands at base where its dir holds a file of this name."`
	Campaign  block[campaign]            `yaml:"campaign" jsonschema_description:"How much is measured, and in which order."`
	Sampling  block[sampling]            `yaml:"sampling" jsonschema_description:"What every request carries beside its prompt."`
	Scenarios map[string]block[scenario] `yaml:"scenarios" jsonschema:"required" jsonschema_description:"What is measured: each scenario is a dataset, a load and an SLO."`
	Gate      block[rules]               `yaml:"gate" jsonschema_description:"What is asked of the measurements."`
}

type target struct {
	BaseURL    text                `yaml:"base_url" jsonschema_description:"Root of the OpenAI-compatible API, with its /v1. {port} is replaced by a free port when a command is given."`
	Model      text                `yaml:"model" jsonschema_description:"Model name, as sent in every request."`
	API        word                `yaml:"api" jsonschema:"enum=chat,enum=completions,default=chat" jsonschema_description:"Which endpoint is measured."`
	APIKeyEnv  text                `yaml:"api_key_env" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$" jsonschema_description:"Name of the environment variable that holds the API key. The key itself is never written in a file."`
	LimitField word                `yaml:"limit_field" jsonschema:"enum=auto,enum=max_tokens,enum=max_completion_tokens,default=auto" jsonschema_description:"Which field limits the length of an answer; auto asks the server."`
	Command    []argument          `yaml:"command" jsonschema_description:"Starts the server, one argument an entry, no shell. Without it an already running server is measured."`
	Dir        text                `yaml:"dir" jsonschema:"default=." jsonschema_description:"Folder in which the command runs, relative to this file."`
	Env        map[string]argument `yaml:"env" jsonschema_description:"Environment of the command, beside a plain one. No secrets: see pass_env."`
	PassEnv    []text              `yaml:"pass_env" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$" jsonschema_description:"Names of environment variables that the command inherits."`
	Ready      block[ready]        `yaml:"ready" jsonschema_description:"When the server counts as started: the path answers and one token came."`
	Stop       block[stop]         `yaml:"stop" jsonschema_description:"How the server is stopped."`
	Reset      text                `yaml:"reset" jsonschema:"pattern=^/" jsonschema_description:"Path that is posted to before each run, to empty the server's caches; relative to the origin of base_url."`
	Metrics    text                `yaml:"metrics" jsonschema:"pattern=^(/|off$),default=/metrics" jsonschema_description:"Path of the server's Prometheus metrics, or off; relative to the origin of base_url."`
	Remote     word                `yaml:"remote" jsonschema:"enum=deny,enum=allow,default=deny" jsonschema_description:"Allows a target that is neither loopback nor in a private network."`
}

type ready struct {
	Path   text     `yaml:"path" jsonschema:"pattern=^/" jsonschema_description:"Relative to the origin of base_url; the models list of the API unless set."`
	Within duration `yaml:"within" jsonschema:"default=10m" jsonschema_description:"How long a start may take."`
}

type stop struct {
	Within  duration   `yaml:"within" jsonschema:"default=60s" jsonschema_description:"How long a stop may take: first TERM, then KILL."`
	Command []argument `yaml:"command" jsonschema_description:"Stops the server where a signal does not reach it, such as a container."`
}

type campaign struct {
	Design    word          `yaml:"design" jsonschema:"enum=committed,enum=interleaved,enum=confirm" jsonschema_description:"committed compares with a baseline file, interleaved starts both builds in turn, confirm does the second only where the first found something. Unless set: confirm if there is a reference, else committed."`
	Runs      count         `yaml:"runs" jsonschema:"minimum=1,default=5" jsonschema_description:"Runs of every scenario in a session of the committed design."`
	Looks     []count       `yaml:"looks" jsonschema_description:"Visits a side at which the interleaved design may decide; even and ascending. [6, 8, 10] unless set."`
	VisitRuns count         `yaml:"visit_runs" jsonschema:"minimum=1,default=1" jsonschema_description:"Runs of every scenario between two starts of the server, interleaved design."`
	WarmUp    block[warmUp] `yaml:"warmup" jsonschema_description:"What is sent and thrown away after every start."`
	CoolDown  duration      `yaml:"cooldown" jsonschema:"default=5s" jsonschema_description:"Pause between visits; a committed campaign has only one."`
	Budget    duration      `yaml:"budget" jsonschema_description:"Longest time that a campaign may take; a plan that could take longer is refused. No limit unless set."`
	Abort     block[abort]  `yaml:"abort" jsonschema_description:"When a run is given up."`
	Client    block[client] `yaml:"client" jsonschema_description:"Limits on the client's own faults: a run beyond one is void, and measured again. Times grow with lateness_share where that is more than lateness."`
}

type warmUp struct {
	Requests count `yaml:"requests" jsonschema:"minimum=0,default=16" jsonschema_description:"Number of requests."`
}

type abort struct {
	Errors      percent `yaml:"errors" jsonschema:"default=5%" jsonschema_description:"Share of failed requests."`
	Consecutive count   `yaml:"consecutive" jsonschema:"minimum=1,default=10" jsonschema_description:"Failed requests in a row."`
}

type client struct {
	Lateness      duration `yaml:"lateness" jsonschema:"default=5ms" jsonschema_description:"How late the client may send, and how wrong its loopback self-test may be, p99."`
	LatenessShare percent  `yaml:"lateness_share" jsonschema:"default=10%" jsonschema_description:"The same as a share of the run's TTFT p50; the larger of the two holds."`
	Timer         ceiling  `yaml:"timer" jsonschema:"default=25ms" jsonschema_description:"How much a timer of 1 ms may oversleep, p99; or off."`
	Sched         ceiling  `yaml:"sched" jsonschema:"default=25ms" jsonschema_description:"How long what could run in the client may wait for a processor, p99; or off."`
	GCPause       ceiling  `yaml:"gc_pause" jsonschema:"default=off" jsonschema_description:"Longest pause of the client's garbage collector; or off."`
	CPU           portion  `yaml:"cpu" jsonschema:"default=off" jsonschema_description:"The client's share of the machine's CPU time; or off."`
	HostCPU       portion  `yaml:"host_cpu" jsonschema:"default=off" jsonschema_description:"Busy share of the whole machine, server included where it is on the same host; or off."`
	Throttled     portion  `yaml:"throttled" jsonschema:"default=25%" jsonschema_description:"Share of the machine's CPU time for which a container's quota stopped the client's group; or off."`
}

type sampling struct {
	Temperature number `yaml:"temperature" jsonschema:"minimum=0,default=0" jsonschema_description:"0 is greedy: the same answer every time, as far as the server can."`
	ExtraBody   body   `yaml:"extra_body" jsonschema_description:"More fields of every request's JSON, such as top_p or chat_template_kwargs."`
}

type scenario struct {
	Dataset      block[dataset] `yaml:"dataset" jsonschema:"required" jsonschema_description:"What is asked."`
	OutputTokens count          `yaml:"output_tokens" jsonschema:"required,minimum=1" jsonschema_description:"Length of every answer in tokens; a ceiling where the server cannot be made to write exactly so many."`
	Load         block[load]    `yaml:"load" jsonschema:"required" jsonschema_description:"How it is asked."`
	SLO          block[slo]     `yaml:"slo" jsonschema_description:"Limits on a single request; goodput counts the requests that keep all of them."`
	Primary      block[primary] `yaml:"primary" jsonschema_description:"The one comparison that this scenario is for."`
}

type dataset struct {
	Kind         word    `yaml:"kind" jsonschema:"required,enum=random,enum=jsonl,enum=sharegpt,enum=prefix" jsonschema_description:"random: made-up prompts of a wanted length. jsonl: your prompts, one {\"prompt\": …} a line. sharegpt: the first questions of a ShareGPT file of conversations. prefix: made-up prompts that share their beginning with others of their group."`
	InputTokens  count   `yaml:"input_tokens" jsonschema:"minimum=1" jsonschema_description:"random: mean length of a prompt in tokens. prefix: mean length of what stands behind the prefix."`
	Range        percent `yaml:"range" jsonschema:"default=0%" jsonschema_description:"random and prefix: lengths are uniform within so much of input_tokens."`
	Path         text    `yaml:"path" jsonschema_description:"jsonl and sharegpt: the file, relative to this one."`
	Longest      count   `yaml:"max_input_tokens" jsonschema:"minimum=1,default=1024" jsonschema_description:"sharegpt: questions that are about longer than so many tokens are not asked."`
	PrefixTokens count   `yaml:"prefix_tokens" jsonschema:"minimum=1" jsonschema_description:"prefix: how many tokens all prompts of a group begin with. Every run has prefixes of its own."`
	Groups       count   `yaml:"groups" jsonschema:"minimum=1" jsonschema_description:"prefix: how many different prefixes a run has; fewer than it has requests."`
}

type load struct {
	Rate           number   `yaml:"rate" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Open loop: requests per second, whatever the server does. For latency."`
	Concurrency    count    `yaml:"concurrency" jsonschema:"minimum=1" jsonschema_description:"Closed loop: so many requests are always in flight. For throughput."`
	Requests       count    `yaml:"requests" jsonschema:"required,minimum=1" jsonschema_description:"Requests in one run; at least so many beside a min_duration."`
	MinDuration    duration `yaml:"min_duration" jsonschema_description:"A run goes on sending for at least so long. Open loop: the number of requests follows from the rate. Closed loop: it depends on how fast the server is."`
	Burstiness     shape    `yaml:"burstiness" jsonschema_description:"Open loop: shape of the gamma distribution of gaps; 1 is Poisson (the default), smaller comes in bursts, inf is evenly spaced."`
	Seed           count    `yaml:"seed" jsonschema:"minimum=0,maximum=4294967295,default=42" jsonschema_description:"Seed of arrivals and prompts."`
	MaxConcurrency count    `yaml:"max_concurrency" jsonschema:"minimum=1" jsonschema_description:"Open loop: requests beyond so many wait in the client, which shows up in ttft_sched. No limit unless set."`
	ReusePrompts   flag     `yaml:"reuse_prompts" jsonschema:"default=false" jsonschema_description:"Every run sends the very same text, so that the server's prefix cache is warm."`
}

type slo struct {
	TTFT duration `yaml:"ttft" jsonschema_description:"Time to the first token."`
	TPOT duration `yaml:"tpot" jsonschema_description:"Time per output token after the first."`
	E2EL duration `yaml:"e2el" jsonschema_description:"Time to the last token."`
}

type primary struct {
	Metric    metric `yaml:"metric" jsonschema:"required" jsonschema_description:"What is compared: what.statistic, such as ttft.p95 or output.rate."`
	Tolerance share  `yaml:"tolerance" jsonschema:"default=5%" jsonschema_description:"Smallest worsening that counts; points for ratios."`
	RuleOut   share  `yaml:"rule_out" jsonschema:"default=25%" jsonschema_description:"Worsening that a pass excludes; points for ratios."`
}

type rules struct {
	Rules          []block[rule]   `yaml:"rules" jsonschema_description:"More questions beside the primaries. error.ratio is held to 0.5% unless a rule says otherwise."`
	Waivers        []block[waiver] `yaml:"waivers" jsonschema_description:"Worsenings that are accepted for a while."`
	Confidence     percent         `yaml:"confidence" jsonschema:"default=95%" jsonschema_description:"Of two-sided intervals; a false alarm is half of the rest."`
	OnInconclusive word            `yaml:"on_inconclusive" jsonschema:"enum=warn,enum=fail,default=warn" jsonschema_description:"What an inconclusive comparison does to the job."`
	OnMissing      word            `yaml:"on_missing" jsonschema:"enum=warn,enum=fail,default=warn" jsonschema_description:"What a missing baseline does to the job."`
	Slack          share           `yaml:"slack" jsonschema:"default=3 points" jsonschema_description:"How far below a min limit on a ratio the interval may reach and still pass."`
	Baseline       block[baseline] `yaml:"baseline" jsonschema_description:"How far a committed baseline is trusted."`
	Paths          []text          `yaml:"paths" jsonschema_description:"Globs from the root of the repository, such as engine/** or go.mod: a change that touches none of these files, nor the config, its datasets or baselines/, needs no measurement. Every change does unless set."`
}

type rule struct {
	Metric    metric  `yaml:"metric" jsonschema:"required" jsonschema_description:"What is judged: what.statistic, such as tpot.mean or goodput.ratio."`
	Scenarios []label `yaml:"scenarios" jsonschema_description:"Where; every scenario unless set."`
	Tolerance share   `yaml:"tolerance" jsonschema:"oneof_required=tolerance" jsonschema_description:"Smallest worsening that counts; points for ratios."`
	RuleOut   share   `yaml:"rule_out" jsonschema_description:"Worsening that a pass excludes. Without it the rule can only block."`
	Min       limit   `yaml:"min" jsonschema:"oneof_required=min" jsonschema_description:"Least value, of a metric of which more is better."`
	Max       limit   `yaml:"max" jsonschema:"oneof_required=max" jsonschema_description:"Greatest value, of a metric of which less is better. off, of error.ratio, removes the default rule."`
}

type waiver struct {
	Metric   metric `yaml:"metric" jsonschema:"required" jsonschema_description:"What may be worse."`
	Scenario label  `yaml:"scenario" jsonschema:"required" jsonschema_description:"Where."`
	Ceiling  share  `yaml:"ceiling" jsonschema:"required" jsonschema_description:"How much worse, at most; points for ratios."`
	Until    day    `yaml:"until" jsonschema:"required" jsonschema_description:"Last day on which it holds, UTC."`
	Why      text   `yaml:"why" jsonschema:"required" jsonschema_description:"The reason, for whoever finds it later."`
	Issue    count  `yaml:"issue" jsonschema:"minimum=1" jsonschema_description:"Number of the issue that tracks it."`
}

type baseline struct {
	MaxAge duration `yaml:"max_age" jsonschema:"default=30d" jsonschema_description:"A pass against an older baseline is inconclusive."`
	DaySD  percent  `yaml:"day_sd" jsonschema:"default=5%" jsonschema_description:"How much one day differs from the next on this runner, until enough sessions show it."`
}
