package locale

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// cli has the Chinese of the command line by the English text or format. It is read when it is
// first needed, which in English is never.
var cli = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	names, _ := fs.Glob(files, "cli*.zh.json") // the pattern is well formed
	for _, name := range names {
		data, _ := files.ReadFile(name) // a test checks them
		json.Unmarshal(data, &texts)
	}
	return texts
})

// CLI is a text or format of the command line; what has no translation stays English. The blanks
// and line breaks around it are not part of what is looked up.
func (l Language) CLI(english string) string {
	if l != Chinese {
		return english
	}
	if chinese, ok := cli()[strings.TrimSpace(english)]; ok {
		return strings.Replace(english, strings.TrimSpace(english), chinese, 1)
	}
	return english
}

// Sprintf is fmt.Sprintf with a format of the command line. Errors in it are translated, too.
func (l Language) Sprintf(format string, args ...any) string {
	if l != Chinese {
		return fmt.Sprintf(format, args...)
	}
	said := make([]any, len(args))
	for i, arg := range args {
		said[i] = arg
		if err, ok := arg.(error); ok {
			said[i] = l.Translate(err.Error())
		}
	}
	return fmt.Sprintf(l.CLI(format), said...)
}
