# The law of the house: who may do what. One question is asked, data.suma.decision; deploy/opa/README.md has its
# input and its answer.
#
# How it is written, and why:
# - Rules only allow. Each grant is a list of positive conditions, the default is no, and a field that is missing
#   makes its condition undefined, which is a no.
# - Nothing is negated. An engine that does not know a builtin leaves its call undefined, and a negated undefined is
#   a yes. "Is not in this list" is therefore said as "differs from every entry of it".
# - What is owed (a person's approval) is everything that can be owed, less what a rule waives. A waiver that cannot
#   be evaluated leaves the burden where it was.
package suma

default decision := {"allowed": false, "rule": "default", "reason": "no rule allows this", "obligations": []}

# A grant allows an action that owes nothing; a tie is broken by name, so that every engine names the same grant.
decision := {"allowed": true, "rule": rule, "reason": reason, "obligations": []} if {
	[rule, reason] := min(grants)
}

# An effect allows an action too, but a person may have to be asked before it happens.
decision := {"allowed": true, "rule": rule, "reason": reason, "obligations": owed} if {
	[rule, reason] := min(effects)
}

# --- who asks

known if {
	input.tenant != ""
	input.principal.id != ""
}

holds contains scope if {
	known
	some scope in input.principal.scopes
}

# The key of the machine's owner holds every scope.
holds contains scope if {
	known
	some scope in every_scope
}

every_scope := data.settings.scopes if "*" in input.principal.scopes

# --- conversations

grants contains ["conversation.send", "a holder of the scope chat may speak"] if {
	input.action == "conversation.send"
	holds.chat
	within_length
}

grants contains ["session.create", "a holder of the scope chat may open a session"] if {
	input.action == "session.create"
	holds.chat
	input.root == null
}

grants contains ["session.create.root", "who may read files may open a session on a folder"] if {
	input.action == "session.create"
	holds.chat
	holds["files:read"]
	input.root != null
	input.root != ""
}

# Both bounds: Rego orders null and booleans before numbers, strings after them.
within_length if {
	input.length >= 0
	input.length <= data.settings.max_message_length
}

# --- tools
# The cheap conditions stand first: an engine stops at the first one that fails.

effects contains ["tool.execute.read", "reading on this machine, with the scope files:read"] if {
	input.action == "tool.execute"
	reads_here
	holds["files:read"]
	runnable
}

effects contains ["tool.execute.effect", "changing something or reaching out, with the scope files:write"] if {
	input.action == "tool.execute"
	has_effect
	holds["files:write"]
	runnable
}

effects contains ["tool.execute.scoped", "the tool's own scope is held"] if {
	input.action == "tool.execute"
	holds_own_scope
	sound
}

# A rule of its own: regopy walks a loop before it looks at the conditions beside it.
holds_own_scope if {
	some own in data.settings.tool_scopes
	own.tool == input.tool
	holds[own.scope]
}

runnable if {
	every own in data.settings.tool_scopes { own.tool != input.tool }
	sound
}

sound if {
	input.paths_in_scope == true
	input.effect_class in data.settings.effect_classes
	some allowed in input.allowed_tools
	allowed in {"*", input.tool}
	unblocked
	every blocked in data.settings.blocked_destinations { blocked != input.destination }
}

unblocked if {
	input.tool != ""
	every blocked in data.settings.blocked_tools { blocked != input.tool }
}

reads_here if {
	input.mutates == false
	input.leaves_machine == false
}

has_effect if input.mutates == true

has_effect if input.leaves_machine == true

# --- multimodal work

effects contains ["multimodal.tool.execute", "a provider that is not blocked, with the scope files:write"] if {
	input.action == "multimodal.tool.execute"
	holds["files:write"]
	unblocked
	input.provider != ""
	every blocked in data.settings.blocked_providers { blocked != input.provider }
}

# --- memory

grants contains ["memory.write.own", "the person's own memory, with the scope memory"] if {
	input.action == "memory.write"
	input.user == input.principal.id
	writable
}

grants contains ["memory.write.any", "the owner's key may write for any person of its tenant"] if {
	input.action == "memory.write"
	"*" in input.principal.scopes
	input.user != ""
	writable
}

writable if {
	holds.memory
	input.kind in data.settings.memory_kinds
}

# --- the committee
# DESIGN §7 asks whether the committee is required. A yes there is a burden, and whatever is not exactly a yes is read
# as a no, so the question is put the other way round: only a clear yes to "exempt" spares the committee.

grants contains ["committee.exempt", "it only reads, costs nothing and stays on this machine"] if {
	input.action == "committee.exempt"
	reads_here
	input.costs_money == false
	known
}

# --- people's decisions and the workspace

grants contains ["approval.decide.deny", "who takes part in the conversation may refuse"] if {
	input.action == "approval.decide"
	holds.chat
	input.verdict == "deny"
}

grants contains ["approval.decide.allow", "who may change files may approve a change"] if {
	input.action == "approval.decide"
	holds["files:write"]
	input.verdict in {"approve", "override"}
}

# It changes what is taken for true about the world, so it takes the scope that changing the world takes.
grants contains ["effect.resolve", "who may change something may say whether it happened"] if {
	input.action == "effect.resolve"
	holds["files:write"]
	input.verdict in {"happened", "did_not_happen"}
}

effects contains ["workspace.commit", "who may change files may commit the stage"] if {
	input.action == "workspace.commit"
	holds["files:write"]
}

grants contains ["workspace.rollback", "who may change files may roll back"] if {
	input.action == "workspace.rollback"
	holds["files:write"]
}

# --- files that a conversation has made

# What tools have read is in them.
grants contains ["asset.read", "who may read files may fetch what was made of them"] if {
	input.action == "asset.read"
	holds["files:read"]
}

# --- administration

grants contains ["admin", "a holder of the scope admin"] if {
	administers
	area != "roots"
	holds.admin
}

# A new root opens part of this machine: the scope admin does not include it.
grants contains ["admin.roots", "a holder of the scope admin.roots"] if {
	administers
	area == "roots"
	holds["admin.roots"]
}

# Each part of the administration has a scope of its own, named like its action.
grants contains ["admin.scoped", "a holder of the action's own scope"] if {
	administers
	area != "roots"
	holds[input.action]
}

administers if split(input.action, ".")[0] == "admin"

area := split(input.action, ".")[1]

# --- provenance

grants contains ["provenance.store_full_prompt", "the settings keep whole prompts"] if {
	input.action == "provenance.store_full_prompt"
	known
	data.settings.store_full_prompt == true
}

# --- what is owed

obligations := {"approval", "human_sees_payload"}

owed := [obligation | some obligation in (obligations - waived)]

waived contains "approval" if input.approved == true

waived contains "human_sees_payload" if {
	input.approved == true
	input.payload_seen == true
}

# After untrusted content, or with a secret in hand, a person sees the whole payload of whatever leaves the machine.
waived contains "human_sees_payload" if input.leaves_machine == false

waived contains "human_sees_payload" if {
	input.touched.untrusted == false
	input.touched.secret == false
}

# A commit stays in the workspace, and its diff is what the approval shows.
waived contains "human_sees_payload" if input.action == "workspace.commit"

# Mode `all` asks before every step; the others let what changes nothing pass.
waived contains "approval" if {
	input.action == "tool.execute"
	input.hitl in {"key", "bypass"}
	input.mutates == false
}

# Mode `bypass` runs what is staged, since its final diff is still decided, and what the settings name.
waived contains "approval" if {
	input.action == "tool.execute"
	input.hitl == "bypass"
	input.effect_class == "staged"
}

waived contains "approval" if {
	input.action == "tool.execute"
	input.hitl == "bypass"
	input.tool in data.settings.unattended_tools
}

waived contains "approval" if {
	input.action == "multimodal.tool.execute"
	input.hitl == "bypass"
	input.tool in data.settings.unattended_tools
}
