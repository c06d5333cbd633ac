package config

// datasetKinds are the values of dataset.kind.
var datasetKinds = []string{"random", "jsonl", "sharegpt", "prefix"}

// defaultLongest is the longest question of a sharegpt dataset that is asked, in tokens, unless the file says otherwise.
const defaultLongest = 1024

func (r *reader) dataset(b block[dataset]) Dataset {
	d := b.v
	r.need(b.node, d.Kind.given(), "kind", "write kind: random, jsonl, sharegpt or prefix")
	out := Dataset{Kind: r.word(d.Kind, "", datasetKinds...)}
	switch out.Kind {
	case "random":
		r.made(b, &out)
		r.unshared(d)
	case "prefix":
		r.need(b.node, d.PrefixTokens.given(), "prefix_tokens", "say how much the prompts of a group share: prefix_tokens: 512")
		r.need(b.node, d.Groups.given(), "groups", "say how many different prefixes there are: groups: 8")
		r.made(b, &out)
		out.PrefixTokens = r.count(d.PrefixTokens, 1, 1, maxTokenCount)
		out.Groups = r.count(d.Groups, 1, 1, maxRequests)
	case "jsonl":
		r.need(b.node, d.Path.given(), "path", `name the file: path: bench/batch.jsonl, one {"prompt": …} a line`)
		r.odd(d.Longest.scalar, "every line is sent, whatever its length", "delete max_input_tokens, or write kind: sharegpt")
		r.read(d, &out)
	case "sharegpt":
		r.need(b.node, d.Path.given(), "path", "name the file: path: ShareGPT_V3_unfiltered_cleaned_split.json")
		out.Longest = r.count(d.Longest, defaultLongest, 1, maxTokenCount)
		r.read(d, &out)
	}
	return out
}

// made reads what made-up prompts are like.
func (r *reader) made(b block[dataset], out *Dataset) {
	d := b.v
	what := out.Kind
	r.need(b.node, d.InputTokens.given(), "input_tokens", "say how long a prompt is: input_tokens: 512")
	r.odd(d.Path.scalar, what+" prompts come from no file", "delete path, or write kind: jsonl")
	r.odd(d.Longest.scalar, "the length of "+what+" prompts is input_tokens", "delete max_input_tokens, or write kind: sharegpt")
	out.InputTokens = r.count(d.InputTokens, 1, 1, maxTokenCount)
	out.Range = r.percent(d.Range, 0, bounds{greatest: 0.99})
}

// read reads where prompts of a file come from.
func (r *reader) read(d dataset, out *Dataset) {
	r.odd(d.InputTokens.scalar, "prompts from a file have the length they have", "delete input_tokens, or write kind: random")
	r.odd(d.Range.scalar, "prompts from a file have the length they have", "delete range, or write kind: random")
	r.unshared(d)
	out.Path = r.text(d.Path, "?")
}

// unshared refuses the keys of shared prefixes.
func (r *reader) unshared(d dataset) {
	r.odd(d.PrefixTokens.scalar, "only prompts of kind: prefix share a prefix", "delete prefix_tokens, or write kind: prefix")
	r.odd(d.Groups.scalar, "only prompts of kind: prefix come in groups", "delete groups, or write kind: prefix")
}
