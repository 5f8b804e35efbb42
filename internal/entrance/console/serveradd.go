package console

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// pastePage is the box for servers in any form, or what was understood of it.
type pastePage struct {
	Text    string
	Servers []pastedRow
	Notes   []string
	Fault   *fault.Error // why nothing was understood or added
}

// pastedRow is a server as it was understood.
type pastedRow struct {
	restapi.PastedServer
	N     int
	Reads serverConfig // without secrets
	Use   bool         // it is to be added
}

// Ready counts the servers that are to be added.
func (p pastePage) Ready() (n int) {
	for _, s := range p.Servers {
		if s.Use {
			n++
		}
	}
	return n
}

// showPaste shows the box. A link may have filled it; nothing is done before the person goes on.
func (c *Console) showPaste(v *visit) (pastePage, error) {
	return pastePage{Text: v.URL.Query().Get("text")}, mayChange(v)
}

func mayChange(v *visit) error {
	if !v.who.MayAdmin() {
		return v.who.Forbidden("%s may not do this: it takes the role admin")
	}
	return nil
}

// readPasted shows what was understood, or the box again.
func (c *Console) readPasted(v *visit) (answer, error) {
	if v.PostForm.Has("again") {
		return answer{page: "serveradd", data: pastePage{Text: v.PostForm.Get("text")}}, mayChange(v)
	}
	p, err := c.understood(v)
	return answer{page: "serveradd", data: p}, err
}

// understood reads what was pasted, with the names that the person has chosen.
func (c *Console) understood(v *visit) (pastePage, error) {
	p := pastePage{Text: v.PostForm.Get("text")}
	var names []string
	for n := 0; v.PostForm.Has("name." + strconv.Itoa(n)); n++ {
		names = append(names, v.PostForm.Get("name."+strconv.Itoa(n)))
	}
	found, notes, err := c.ServerChanges.ReadPasted(v.who, p.Text, names)
	if in, ok := rejected(v, err); ok {
		p.Fault = in.Fault
		return p, nil
	}
	p.Notes = notes
	for n, s := range found {
		if s.Problem == nil && slices.Contains(ownNames, s.Name) {
			s.Problem = fault.New(fault.Conflict, "a page of the console has the name %s", s.Name).WithHint("choose another name")
		}
		row := pastedRow{PastedServer: s, N: n, Reads: readConfig(s.Shown), Use: s.Problem == nil}
		if names != nil {
			row.Use = slices.Contains(v.PostForm["use"], strconv.Itoa(n))
		}
		p.Servers = append(p.Servers, row)
	}
	return p, err
}

// addPasted adds the chosen ones of the servers that the page has shown: all of them or, if one
// cannot be added, none.
func (c *Console) addPasted(v *visit) (answer, error) {
	p, err := c.understood(v)
	if err != nil {
		return answer{}, err
	}
	bad := func(s pastedRow) bool { return s.Use && s.Problem != nil }
	switch {
	case p.Fault != nil || slices.ContainsFunc(p.Servers, bad):
		return show("serveradd", p)
	case p.Ready() == 0:
		p.Fault = fault.New(fault.BadRequest, "nothing is selected").WithHint("tick at least one that can be added")
		return show("serveradd", p)
	}
	var added []string
	for i, s := range p.Servers {
		if !s.Use {
			continue
		}
		_, err := c.ServerChanges.AddServer(v.Context(), v.who, s.Config)
		if in, ok := rejected(v, err); ok { // another has just taken the name
			p.Servers[i].Problem = in.Fault
			return show("serveradd", p)
		}
		if err != nil {
			return answer{}, err
		}
		added = append(added, string(s.Name))
	}
	if len(added) == 1 {
		return answer{location: serverPath(tool.ServerID(added[0])) + "?did=added"}, nil
	}
	return answer{location: "/servers?" + url.Values{"added": added}.Encode()}, nil
}

// formPage is the form of one server.
type formPage struct {
	ID    tool.ServerID // of the server that is changed; "": a new one
	Input input
}

func (c *Console) emptyForm(v *visit) (formPage, error) {
	return formPage{Input: input{values: url.Values{"kind": {"command"}}}}, mayChange(v)
}

// addServer adds the server in the form, or fills the form with one of what was pasted.
func (c *Console) addServer(v *visit) (answer, error) {
	if v.PostForm.Has("edit") {
		return c.editPasted(v)
	}
	config, err := serverOf(v.PostForm.Get)
	if err == nil && slices.Contains(ownNames, tool.ServerID(v.PostForm.Get("name"))) {
		err = fault.New(fault.Conflict, "a page of the console has the name %s", v.PostForm.Get("name")).WithHint("choose another name")
	}
	var s restapi.Server
	if err == nil {
		s, err = c.ServerChanges.AddServer(v.Context(), v.who, config)
	}
	if in, ok := rejected(v, err); ok {
		return show("serverform", formPage{Input: in})
	}
	return answer{location: serverPath(s.ID) + "?did=added"}, err
}

// editPasted fills the form with one of the servers that were pasted.
func (c *Console) editPasted(v *visit) (answer, error) {
	p, err := c.understood(v)
	if err != nil || p.Fault != nil {
		return answer{page: "serveradd", data: p}, err
	}
	n, err := strconv.Atoi(v.PostForm.Get("edit"))
	if err != nil || n < 0 || n >= len(p.Servers) {
		return answer{}, fault.New(fault.BadRequest, "nothing is selected")
	}
	s := p.Servers[n].PastedServer
	return show("serverform", formPage{Input: input{s.Problem, readConfig(s.Config).fields(string(s.Name))}})
}

// editServer shows the form of a stored server. One of the file is changed there.
func (c *Console) editServer(v *visit) (answer, error) {
	if err := mayChange(v); err != nil {
		return answer{}, err
	}
	id := tool.ServerID(v.PathValue("id"))
	s, err := c.Servers.SeenServer(v.who, id)
	if err != nil {
		return answer{}, err
	}
	if s.Source != restapi.FromStore {
		return answer{location: serverPath(id) + "#config"}, nil
	}
	settings, err := c.Servers.ServerSettings(v.who, id)
	if err != nil {
		return answer{}, err
	}
	return show("serverform", formPage{id, input{values: readConfig(settings.Config).fields(string(id))}})
}

// changeServer saves the form of a stored server. It stays on or off as it is.
func (c *Console) changeServer(v *visit) (answer, error) {
	if err := mayChange(v); err != nil {
		return answer{}, err
	}
	id := tool.ServerID(v.PathValue("id"))
	config, err := serverOf(v.PostForm.Get)
	if err == nil {
		config, err = c.stillOff(v, id, config)
	}
	if err == nil {
		_, err = c.ServerChanges.ChangeServer(v.Context(), v.who, id, config)
	}
	if in, ok := rejected(v, err); ok {
		return show("serverform", formPage{id, in})
	}
	return answer{location: serverPath(id) + "?did=saved"}, err
}

// stillOff keeps a server off that is off: the form does not have that key.
func (c *Console) stillOff(v *visit, id tool.ServerID, config []byte) ([]byte, error) {
	s, err := c.Servers.SeenServer(v.who, id)
	if err != nil || s.State != restapi.Disabled {
		return config, err
	}
	keys := map[string]json.RawMessage{}
	if err := json.Unmarshal(config, &keys); err != nil {
		return nil, err
	}
	keys["disabled"] = json.RawMessage("true")
	return json.Marshal(keys)
}
