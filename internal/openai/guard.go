package openai

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// IsLocal reports whether a target is this machine or one in a private network: whether all addresses of its host are
// loopback, private or link-local. A name is resolved; an error means that it could not be.
func IsLocal(ctx context.Context, baseURL string) (bool, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return false, err
	}
	host := base.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return isPrivate(addr), nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false, fmt.Errorf("look up %q: %w", host, err)
	}
	for _, addr := range addrs {
		if !isPrivate(addr) {
			return false, nil
		}
	}
	return len(addrs) > 0, nil
}

// shared is the address space of carrier-grade NAT (RFC 6598), which overlay networks use between one's own machines.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func isPrivate(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() || shared.Contains(addr)
}

// paid are hosts, with everything below them, where a request costs money.
var paid = []string{
	"openai.com", "openai.azure.com", "ai.azure.com", "ml.azure.com", "cognitiveservices.azure.com", "anthropic.com", "googleapis.com",
	"openrouter.ai", "mistral.ai", "groq.com", "together.xyz", "together.ai", "fireworks.ai", "deepseek.com", "x.ai",
	"cohere.ai", "cohere.com", "perplexity.ai", "cerebras.ai", "sambanova.ai", "deepinfra.com", "api.nvidia.com", "replicate.com",
	"huggingface.co", "huggingface.cloud", "novita.ai", "aliyuncs.com", "moonshot.cn", "moonshot.ai", "siliconflow.cn",
	"siliconflow.com", "hyperbolic.xyz", "ai21.com", "minimax.io", "bigmodel.cn", "z.ai", "baseten.co", "nebius.com",
	"nebius.ai", "lambda.ai", "parasail.io", "friendli.ai", "anyscale.com", "modal.run", "runpod.ai", "volces.com", "cloud.ovh.net",
}

// IsPaid reports whether a target is a public endpoint known to charge for each token.
func IsPaid(baseURL string) bool {
	base, err := parseBase(baseURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(base.Hostname(), "."))
	for _, domain := range paid {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return strings.HasPrefix(host, "bedrock") && strings.HasSuffix(host, ".amazonaws.com")
}
