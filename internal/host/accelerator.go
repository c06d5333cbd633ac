package host

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// devices is what one probe says about accelerators. The zero value says that nothing is known.
type devices struct {
	names  []string // one a device
	driver string
	ids    []string // sorted; empty when the devices do not tell
}

// label counts equal names: "8 × AMD Instinct MI300X", "1 × NVIDIA A100 + 1 × NVIDIA T4".
func (d devices) label() string {
	if len(d.names) == 1 && d.names[0] == None {
		return None
	}
	count := map[string]int{}
	for _, n := range d.names {
		count[n]++
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d × %s", count[n], n))
	}
	return strings.Join(parts, " + ")
}

// noDevices says that the machine is known to have no accelerator.
func noDevices() devices { return devices{names: []string{None}, driver: None} }

// nvidiaQuery asks for the columns that parseNVIDIA reads, in its order.
var nvidiaQuery = []string{"--query-gpu=name,driver_version,uuid", "--format=csv,noheader"}

// parseNVIDIA reads the answer of nvidia-smi to nvidiaQuery; false when it is none. A driver that does not work answers in
// prose, and a broken device with "[Unknown Error]" in a column.
func parseNVIDIA(out string) (devices, bool) {
	r := csv.NewReader(strings.NewReader(out))
	r.TrimLeadingSpace, r.FieldsPerRecord = true, 3
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return devices{}, false
	}
	var d devices
	for _, row := range rows {
		name, driver, id := strings.TrimSpace(row[0]), strings.TrimSpace(row[1]), strings.TrimSpace(row[2])
		if !told(name) || !told(driver) {
			return devices{}, false
		}
		if d.driver != "" && d.driver != driver {
			return devices{}, false
		}
		d.names, d.driver = append(d.names, name), driver
		if told(id) {
			d.ids = append(d.ids, id)
		}
	}
	slices.Sort(d.ids)
	return d, true
}

// told reports whether a column holds a value: the tools write "[N/A]" and the like where they have none.
func told(s string) bool {
	return s != "" && !strings.HasPrefix(s, "[") && !strings.EqualFold(s, "n/a") && len(s) < 200
}

var rocmQuery = []string{"--showproductname", "--showdriverversion", "--showuniqueid", "--json"}

// parseROCm reads the answer of rocm-smi to rocmQuery; false when it is none. Between versions the keys changed their case
// ("Card series", "Card Series"), so case does not count.
func parseROCm(out string) (devices, bool) {
	var cards map[string]map[string]string
	if err := json.Unmarshal([]byte(out), &cards); err != nil {
		return devices{}, false
	}
	var d devices
	for _, card := range slices.Sorted(maps.Keys(cards)) {
		lower := map[string]string{}
		for k, v := range cards[card] {
			lower[strings.ToLower(k)] = strings.TrimSpace(v)
		}
		if v := lower["driver version"]; told(v) {
			d.driver = v
		}
		if !strings.HasPrefix(card, "card") {
			continue
		}
		name := firstTold(lower["card series"], lower["card model"], lower["gfx version"])
		if name == "" {
			return devices{}, false
		}
		d.names = append(d.names, brand("AMD", name))
		if id := lower["unique id"]; told(id) {
			d.ids = append(d.ids, id)
		}
	}
	slices.Sort(d.ids)
	return d, len(d.names) > 0
}

func firstTold(values ...string) string {
	for _, v := range values {
		if told(v) {
			return v
		}
	}
	return ""
}

// brand puts the maker before a name that lacks it.
func brand(maker, name string) string {
	if strings.Contains(strings.ToLower(name), strings.ToLower(maker)) {
		return name
	}
	return maker + " " + name
}

// amdNodes reads what the kernel says of AMD devices, for a machine without rocm-smi; false when it says nothing. The root
// of fsys is that of the machine.
func amdNodes(fsys fs.FS) (devices, bool) {
	nodes, err := fs.Glob(fsys, "sys/class/kfd/kfd/topology/nodes/*/properties")
	if err != nil {
		return devices{}, false
	}
	var d devices
	for _, node := range nodes {
		data, err := fs.ReadFile(fsys, node)
		if err != nil {
			return devices{}, false
		}
		p := properties(string(data))
		if g := p["gfx_target_version"]; g != "" && g != "0" {
			d.names = append(d.names, "AMD gfx "+g)
			if id := p["unique_id"]; id != "" && id != "0" {
				d.ids = append(d.ids, id)
			}
		}
	}
	if v, err := fs.ReadFile(fsys, "sys/module/amdgpu/version"); err == nil {
		d.driver = strings.TrimSpace(string(v))
	}
	slices.Sort(d.ids)
	return d, len(d.names) > 0
}

// drmDevices names graphics devices that no maker's tool described, by what the kernel says of the hardware; false when
// there is none, or one that it cannot name.
func drmDevices(fsys fs.FS) (devices, bool) {
	nodes, err := fs.Glob(fsys, "sys/class/drm/renderD*/device/uevent")
	if err != nil {
		return devices{}, false
	}
	var d devices
	drivers := map[string]bool{}
	for _, node := range nodes {
		data, err := fs.ReadFile(fsys, node)
		if err != nil {
			return devices{}, false
		}
		p := properties(strings.ReplaceAll(string(data), "=", " "))
		switch {
		case told(p["PCI_ID"]):
			d.names = append(d.names, "PCI "+strings.ToLower(p["PCI_ID"]))
		case told(p["OF_COMPATIBLE_0"]):
			d.names = append(d.names, p["OF_COMPATIBLE_0"])
		default:
			return devices{}, false
		}
		drivers[p["DRIVER"]] = true
	}
	d.driver = strings.Trim(strings.Join(slices.Sorted(maps.Keys(drivers)), "+"), "+")
	return d, len(d.names) > 0
}

func properties(text string) map[string]string {
	p := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			p[key] = value
		}
	}
	return p
}
