package host

import (
	"context"
	"strings"
)

// machineID is the id of the logic board. The kernel's own uuid will not do: it changes with an update of the system.
func machineID(ctx context.Context) string {
	out, _, _ := answer(ctx, "ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
	return platformUUID(out)
}

// accelerators: on Apple silicon the chip is the accelerator and its driver comes with the system. Of the devices in an
// older Mac nothing is known here.
func accelerators(_ context.Context, chip string) devices {
	if !strings.HasPrefix(chip, "Apple ") {
		return devices{}
	}
	return devices{names: []string{chip}, driver: None}
}
