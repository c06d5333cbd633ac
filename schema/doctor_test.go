package schema_test

import (
	"testing"

	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/schema"
)

func TestDoctorSchemaIsCurrent(t *testing.T) {
	current(t, "doctor.json", described(t, "campaign", campaign.Diagnosis{}, campaign.DoctorSchema, "benchgate doctor: is this fit to judge?"))
}

func TestSchemaRefusesWhatIsNoDiagnosis(t *testing.T) {
	const sound = `{"schema": "benchgate.doctor/v1", "fit": true, "checks": [{"section": "runner", "name": "clock", "state": "ok", "found": "so"}]}`
	if problems, err := schema.Check("doctor", []byte(sound)); err != nil || len(problems) > 0 {
		t.Errorf("a sound document is refused: %v %v", err, problems)
	}
	for name, text := range map[string]string{
		"empty object":    `{}`,
		"another kind":    `{"schema": "benchgate.verdict/v1", "fit": true, "checks": []}`,
		"no answer":       `{"schema": "benchgate.doctor/v1", "checks": []}`,
		"another state":   `{"schema": "benchgate.doctor/v1", "fit": true, "checks": [{"section": "runner", "name": "clock", "state": "well", "found": "so"}]}`,
		"another section": `{"schema": "benchgate.doctor/v1", "fit": true, "checks": [{"section": "kitchen", "name": "clock", "state": "ok", "found": "so"}]}`,
		"another side":    `{"schema": "benchgate.doctor/v1", "fit": true, "checks": [{"section": "server", "side": "left", "name": "model", "state": "ok", "found": "so"}]}`,
		"checks no array": `{"schema": "benchgate.doctor/v1", "fit": true, "checks": {}}`,
		"figure as text":  `{"schema": "benchgate.doctor/v1", "fit": true, "checks": [{"section": "client", "name": "chat", "state": "ok", "found": "so", "figures": {"limit": "5ms"}}]}`,
	} {
		problems, err := schema.Check("doctor", []byte(text))
		if err != nil || len(problems) == 0 {
			t.Errorf("%s: accepted (%v)", name, err)
		}
	}
}
