package sim

import (
	"net/http"
	"strings"
	"testing"
)

func TestPortsLeadEachToItsServer(t *testing.T) {
	ports := Ports{1: NewMemory(), 2: NewMemory()}
	for port, model := range map[int]string{1: "one", 2: "two"} {
		s := Serve(New(Options{Model: model}), ports[port])
		t.Cleanup(func() { s.Close() })
	}
	client := &http.Client{Transport: &http.Transport{DialContext: ports.Dial}}
	t.Cleanup(client.CloseIdleConnections)
	for port, model := range map[string]string{"1": "one", "2": "two"} {
		if body := get(t, client, "http://127.0.0.1:"+port+"/v1/models"); !strings.Contains(body, model) {
			t.Errorf("port %s: %q, want %q in it", port, body, model)
		}
	}
	for address, want := range map[string]string{"127.0.0.1:3": "no server in memory", "127.0.0.1:http": "no server in memory", "127.0.0.1": "missing port"} {
		if _, err := ports.Dial(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestAConnectionInMemoryKnowsWhereItLeads(t *testing.T) {
	m := NewMemory()
	go func() {
		if far, err := m.Accept(); err == nil {
			far.Close()
		}
	}()
	conn, err := Ports{2: m}.Dial(t.Context(), "tcp", "localhost:2")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().String(); got != "127.0.0.1:2" {
		t.Errorf("it leads to %q", got)
	}
}
