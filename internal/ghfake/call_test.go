package ghfake

import "testing"

func TestEveryCallOfTheDescriptionHasAHandlerAndAName(t *testing.T) {
	s, err := description()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for path, item := range s.doc.Paths.Map() {
		for method, op := range item.Operations() {
			n++
			if handlers[op.OperationID] == nil || (Call{Operation: op.OperationID}).Short() == "" {
				t.Errorf("%s %s (%s) has no handler, or no short name", method, path, op.OperationID)
			}
			if reads[op.OperationID] == write(method) {
				t.Errorf("%s %s: read and write are mixed up", method, path)
			}
		}
	}
	n++ // who the token is, by the other API
	if n != len(handlers) || n != len(short) {
		t.Errorf("the description has %d calls, there are %d handlers and %d short names", n, len(handlers), len(short))
	}
}
