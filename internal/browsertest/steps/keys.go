package steps

import (
	"regexp"
	"strings"
)

// keys are the names that the browser knows; the rest are those that people say.
var keys = map[string]string{
	"回车": "Enter", "回车键": "Enter", "确认键": "Enter", "enter": "Enter", "return": "Enter",
	"退格": "Backspace", "退格键": "Backspace", "backspace": "Backspace",
	"空格": "Space", "空格键": "Space", "space": "Space", "spacebar": "Space",
	"制表": "Tab", "制表键": "Tab", "tab": "Tab", "tab键": "Tab",
	"esc": "Escape", "escape": "Escape", "退出键": "Escape", "取消键": "Escape",
	"删除键": "Delete", "delete": "Delete", "del": "Delete", "insert": "Insert",
	"上": "ArrowUp", "up": "ArrowUp", "arrowup": "ArrowUp", "arrow up": "ArrowUp",
	"下": "ArrowDown", "down": "ArrowDown", "arrowdown": "ArrowDown", "arrow down": "ArrowDown",
	"左": "ArrowLeft", "left": "ArrowLeft", "arrowleft": "ArrowLeft", "arrow left": "ArrowLeft",
	"右": "ArrowRight", "right": "ArrowRight", "arrowright": "ArrowRight", "arrow right": "ArrowRight",
	"home": "Home", "end": "End", "pageup": "PageUp", "page up": "PageUp", "pagedown": "PageDown", "page down": "PageDown",
}

var modifiers = map[string]string{
	"ctrl": "Control", "control": "Control", "shift": "Shift", "alt": "Alt", "option": "Alt",
	"cmd": "Meta", "command": "Meta", "meta": "Meta", "win": "Meta",
}

// keyPattern is what may be a key: a name, a combination, F5.
const keyPattern = `(?:(?:ctrl|control|shift|alt|option|cmd|command|meta|win)\s*[+-]\s*)*(?:回车键?|确认键|退格键?|空格键?|制表键?|退出键|取消键|删除键` +
	`|向?[上下左右](?:箭头键?|方向键|键)|enter|return|backspace|space(?:bar)?|tab|esc(?:ape)?|delete|del|insert|(?:arrow ?)?(?:up|down|left` +
	`|right)|home|end|page ?(?:up|down)|f\d{1,2}|[a-z0-9])`

// keyName is a key as the browser calls it, after the keys that are held meanwhile.
func keyName(text string) (string, bool) {
	var held []string
	key := strings.TrimSpace(text)
	for {
		at := strings.IndexAny(key, "+-")
		if at < 0 || at == len(key)-1 {
			break
		}
		mod, known := modifiers[strings.ToLower(strings.TrimSpace(key[:at]))]
		if !known {
			break
		}
		held = append(held, mod)
		key = strings.TrimSpace(key[at+1:])
	}
	lower := strings.ToLower(key)
	if m := arrowKey.FindStringSubmatch(lower); m != nil {
		lower = m[1]
	}
	switch name, known := keys[lower]; {
	case known:
		key = name
	case len(key) == 1:
	case functionKey.MatchString(lower):
		key = strings.ToUpper(key)
	default:
		return "", false
	}
	return strings.Join(append(held, key), "+"), true
}

var arrowKey = regexp.MustCompile(`^向?([上下左右])(?:箭头键?|方向键|键)$`)

var functionKey = regexp.MustCompile(`^f\d{1,2}$`)
