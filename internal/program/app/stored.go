package app

import "slices"

// storedRow is how an agent or a rule of the store stands.
type storedRow struct {
	id      string
	problem string // why it cannot be used
	hidden  bool   // the file has one of that id
}

// warnOfStored says of the rows that are not in force why, unless it stood so before.
func (a *App) warnOfStored(kind string, before, now []storedRow) {
	for _, row := range now {
		switch {
		case slices.Contains(before, row):
		case row.problem != "":
			a.log.Warn(kind+" of the store left out", kind, row.id, "error", row.problem)
		case row.hidden:
			a.log.Warn("the file and the store both have this "+kind+"; the file wins", kind, row.id)
		}
	}
}
