package openai

import "testing"

func TestLocalTargetsAreLoopbackOrPrivate(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:8000/v1": true, "http://127.9.9.9/v1": true, "http://[::1]:8000/v1": true, "http://localhost:8000/v1": true,
		"http://10.1.2.3/v1": true, "http://192.168.1.9/v1": true, "http://172.31.0.1/v1": true, "http://172.32.0.1/v1": false,
		"http://[fd00::1]/v1": true, "http://169.254.1.1/v1": true, "http://100.100.1.1/v1": true, "http://0.0.0.0:8000/v1": true,
		"http://[::ffff:127.0.0.1]/v1": true, "http://[::ffff:8.8.8.8]/v1": false,
		"http://8.8.8.8/v1": false, "https://[2606:4700::1111]/v1": false,
	} {
		got, err := IsLocal(t.Context(), url)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", url, got, err)
		}
	}
	if local, err := IsLocal(t.Context(), "nonsense"); err == nil || local {
		t.Errorf("nonsense: %v, %v", local, err)
	}
}

func TestPaidEndpointsAreKnown(t *testing.T) {
	for url, want := range map[string]bool{
		"https://api.openai.com/v1": true, "https://API.OPENAI.COM./v1": true, "https://mine.openai.azure.com/openai/v1": true,
		"https://openrouter.ai/api/v1": true, "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1": true,
		"https://generativelanguage.googleapis.com/v1beta/openai": true,
		"https://notopenai.com/v1":                                false, "https://openai.com.example.org/v1": false, "http://ec2-1-2-3-4.compute.amazonaws.com/v1": false,
		"http://127.0.0.1:8000/v1": false, "nonsense": false,
	} {
		if got := IsPaid(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}
