# Run with `opa test deploy/opa`, and from pytest in both engines. Each test states one rule.
package suma_test

import data.suma

asker(scopes) := {"tenant": "acme", "principal": {"id": "ada", "scopes": scopes}, "session": "s1", "turn": "t1"}

ask(scopes, action, fields) := object.union(object.union(asker(scopes), {"action": action}), fields)

reading := {
	"tool": "list_directory", "effect_class": "pure", "mutates": false, "leaves_machine": false,
	"args_digest": "d", "skill": null, "epoch": 0, "allowed_tools": ["*"],
	"touched": {"private": false, "untrusted": false, "secret": false},
	"destination": null, "paths_in_scope": true, "approved": false, "hitl": "key",
}

staging := object.union(reading, {"tool": "move_file", "effect_class": "staged", "mutates": true})

sending := object.union(reading, {"tool": "web_fetch", "leaves_machine": true, "destination": "example.org"})

allowed(question) if suma.decision.allowed with input as question

refused(question) if suma.decision.allowed == false with input as question

owes(question) := answer.obligations if {
	answer := suma.decision with input as question
	answer.allowed
}

test_an_empty_question_is_refused if refused({})

test_an_unknown_action_is_refused if refused(ask(["*"], "make.coffee", {}))

test_chat_may_speak if allowed(ask(["chat"], "conversation.send", {"length": 5}))

test_without_chat_nobody_speaks if refused(ask(["files:read"], "conversation.send", {"length": 5}))

test_a_message_beyond_the_limit_is_refused if refused(ask(["chat"], "conversation.send", {"length": 200001}))

test_a_length_that_is_no_number_is_refused if {
	refused(ask(["chat"], "conversation.send", {"length": null}))
	refused(ask(["chat"], "conversation.send", {"length": "5"}))
	refused(ask(["chat"], "conversation.send", {}))
}

test_a_session_without_a_root_needs_only_chat if allowed(ask(["chat"], "session.create", {"root": null}))

test_a_session_on_a_folder_needs_files_read if {
	allowed(ask(["chat", "files:read"], "session.create", {"root": "/srv/shared"}))
	refused(ask(["chat"], "session.create", {"root": "/srv/shared"}))
}

test_reading_needs_files_read if {
	allowed(ask(["files:read"], "tool.execute", reading))
	refused(ask(["chat"], "tool.execute", reading))
}

test_staging_needs_files_write if {
	allowed(ask(["files:write"], "tool.execute", staging))
	refused(ask(["files:read"], "tool.execute", staging))
}

test_a_tool_outside_the_agents_list_is_refused if {
	refused(ask(["*"], "tool.execute", object.union(reading, {"allowed_tools": ["move_file"]})))
	refused(ask(["*"], "tool.execute", object.union(reading, {"allowed_tools": []})))
}

test_a_path_out_of_scope_is_refused if {
	refused(ask(["*"], "tool.execute", object.union(reading, {"paths_in_scope": false})))
	refused(ask(["*"], "tool.execute", object.union(reading, {"paths_in_scope": "yes"})))
}

test_an_unknown_effect_class_is_refused if {
	refused(ask(["*"], "tool.execute", object.union(reading, {"effect_class": "magic"})))
}

test_a_blocked_tool_is_refused if {
	refused(ask(["*"], "tool.execute", reading)) with data.settings.blocked_tools as ["list_directory"]
}

test_a_lost_block_list_refuses_everything if {
	refused(ask(["*"], "tool.execute", reading)) with data.settings.blocked_tools as null
}

test_a_metadata_server_is_no_destination if {
	refused(ask(["*"], "tool.execute", object.union(sending, {"destination": "169.254.169.254"})))
}

test_a_tool_with_its_own_scope_needs_that_one if {
	remember := object.union(staging, {"tool": "memory.remember", "effect_class": "idempotent"})
	allowed(ask(["memory"], "tool.execute", remember))
	refused(ask(["files:write"], "tool.execute", remember))
}

test_remembering_owes_nothing_before_texts_of_others if {
	remember := object.union(staging, {"tool": "memory.remember", "effect_class": "idempotent", "hitl": "key"})
	clean := {"touched": {"private": true, "untrusted": false, "secret": false}}
	owes(ask(["*"], "tool.execute", object.union(remember, clean))) == []
	owes(ask(["*"], "tool.execute", object.union(remember, {"touched": {"private": true, "untrusted": true, "secret": false}}))) == ["approval"]
	owes(ask(["*"], "tool.execute", object.union(remember, object.union(clean, {"hitl": "all"})))) == ["approval"]
}

test_reading_owes_nothing if owes(ask(["*"], "tool.execute", reading)) == []

test_mode_all_asks_before_reading if {
	owes(ask(["*"], "tool.execute", object.union(reading, {"hitl": "all"}))) == ["approval"]
}

test_an_unknown_mode_asks if {
	owes(ask(["*"], "tool.execute", object.union(reading, {"hitl": "whenever"}))) == ["approval"]
}

test_a_change_owes_an_approval if owes(ask(["*"], "tool.execute", staging)) == ["approval"]

test_an_approved_change_owes_nothing if {
	owes(ask(["*"], "tool.execute", object.union(staging, {"approved": true}))) == []
}

test_bypass_stages_unasked if {
	owes(ask(["*"], "tool.execute", object.union(staging, {"hitl": "bypass"}))) == []
}

test_bypass_asks_for_what_cannot_be_staged if {
	effect := object.union(staging, {"effect_class": "at_most_once", "hitl": "bypass"})
	owes(ask(["*"], "tool.execute", effect)) == ["approval"]
}

test_the_settings_can_spare_a_tool_the_asking_in_bypass if {
	effect := object.union(staging, {"effect_class": "at_most_once", "hitl": "bypass"})
	owes(ask(["*"], "tool.execute", effect)) == [] with data.settings.unattended_tools as ["move_file"]
}

test_reaching_out_with_clean_hands_owes_nothing if owes(ask(["*"], "tool.execute", sending)) == []

test_after_untrusted_content_a_person_sees_what_leaves if {
	tainted := object.union(sending, {"touched": {"private": false, "untrusted": true, "secret": false}})
	owes(ask(["*"], "tool.execute", tainted)) == ["human_sees_payload"]
	owes(ask(["*"], "tool.execute", object.union(tainted, {"approved": true}))) == ["human_sees_payload"]
	owes(ask(["*"], "tool.execute", object.union(tainted, {"approved": true, "payload_seen": true}))) == []
}

test_with_a_secret_in_hand_a_person_sees_what_leaves if {
	tainted := object.union(sending, {"touched": {"private": false, "untrusted": false, "secret": true}})
	owes(ask(["*"], "tool.execute", tainted)) == ["human_sees_payload"]
}

test_what_is_not_known_to_be_clean_counts_as_tainted if {
	unknown := object.union(object.remove(sending, ["touched"]), {})
	owes(ask(["*"], "tool.execute", unknown)) == ["human_sees_payload"]
}

test_the_scope_memory_reads_ones_own_memory if {
	allowed(ask(["memory"], "memory.read", {}))
	refused(ask(["chat"], "memory.read", {}))
}

test_a_person_writes_to_their_own_memory if {
	allowed(ask(["memory"], "memory.write", {"kind": "fact", "user": "ada"}))
	refused(ask(["memory"], "memory.write", {"kind": "fact", "user": "bob"}))
	refused(ask(["chat"], "memory.write", {"kind": "fact", "user": "ada"}))
}

test_the_owner_writes_for_any_person if allowed(ask(["*"], "memory.write", {"kind": "fact", "user": "bob"}))

test_a_base_of_everyone_needs_the_owners_key if {
	allowed(ask(["*"], "memory.write", {"kind": "knowledge", "user": "*"}))
	refused(ask(["memory"], "memory.write", {"kind": "knowledge", "user": "*"}))
}

test_an_unknown_kind_of_memory_is_refused if {
	refused(ask(["*"], "memory.write", {"kind": "gossip", "user": "ada"}))
}

test_only_a_plan_that_reads_here_for_free_is_exempt_from_the_committee if {
	harmless := {"mutates": false, "leaves_machine": false, "costs_money": false}
	allowed(ask([], "committee.exempt", harmless))
	refused(ask(["*"], "committee.exempt", object.union(harmless, {"mutates": true})))
	refused(ask(["*"], "committee.exempt", object.union(harmless, {"leaves_machine": true})))
	refused(ask(["*"], "committee.exempt", object.union(harmless, {"costs_money": true})))
	refused(ask(["*"], "committee.exempt", {}))
}

test_approving_needs_files_write_and_refusing_only_chat if {
	allowed(ask(["files:write"], "approval.decide", {"verdict": "approve"}))
	allowed(ask(["files:write"], "approval.decide", {"verdict": "override"}))
	allowed(ask(["chat"], "approval.decide", {"verdict": "deny"}))
	refused(ask(["chat"], "approval.decide", {"verdict": "approve"}))
}

test_a_commit_owes_an_approval_in_every_mode if {
	owes(ask(["files:write"], "workspace.commit", {"approved": false, "hitl": "bypass"})) == ["approval"]
	owes(ask(["files:write"], "workspace.commit", {"approved": true})) == []
	refused(ask(["files:read"], "workspace.commit", {"approved": true}))
}

test_rolling_back_needs_files_write if {
	owes(ask(["files:write"], "workspace.rollback", {})) == []
	refused(ask(["files:read"], "workspace.rollback", {}))
	allowed(ask(["files:write"], "workspace.purge", {}))
	refused(ask(["chat", "files:read"], "workspace.purge", {}))
}

test_reading_changed_files_needs_files_read if {
	allowed(ask(["files:read"], "workspace.read", {}))
	refused(ask(["chat", "files:write"], "workspace.read", {}))
}

test_making_an_example_folder_needs_files_write if {
	allowed(ask(["files:write"], "workspace.example", {}))
	refused(ask(["chat", "files:read"], "workspace.example", {}))
}

test_fetching_what_was_made_of_files_needs_files_read if {
	allowed(ask(["files:read"], "asset.read", {}))
	refused(ask(["chat", "files:write", "admin"], "asset.read", {}))
}

test_uploading_and_deleting_uploads_needs_files_write if {
	every action in ["asset.write", "asset.delete"] {
		allowed(ask(["files:write"], action, {}))
		refused(ask(["chat", "files:read", "admin"], action, {}))
	}
}

test_saying_whether_an_effect_happened_needs_files_write if {
	every verdict in ["happened", "did_not_happen"] {
		allowed(ask(["files:write"], "effect.resolve", {"verdict": verdict}))
		refused(ask(["chat", "files:read", "admin"], "effect.resolve", {"verdict": verdict}))
	}
	refused(ask(["files:write"], "effect.resolve", {"verdict": "perhaps"}))
}

test_administration_needs_admin if {
	allowed(ask(["admin"], "admin.dlq.write", {}))
	refused(ask(["chat", "files:write"], "admin.dlq.write", {}))
	refused(ask(["admin"], "administer.dlq", {}))
}

test_each_part_of_the_administration_has_its_own_scope if {
	every action in ["admin.audit", "admin.bus.read", "admin.dlq.read", "admin.dlq.write", "admin.requeue.read", "admin.requeue.write", "admin.skills"] {
		allowed(ask([action], action, {}))
		refused(ask(["chat", "files:write"], action, {}))
	}
	refused(ask(["admin.dlq.read"], "admin.dlq.write", {}))
}

test_other_tenants_are_administered_from_the_platforms_own if {
	refused(ask(["admin"], "admin.tenants.write", {"tenant": "local"}))
	allowed(ask(["admin.tenants"], "admin.tenants.write", {"tenant": "local"}))
	allowed(ask(["*"], "admin.tenants.keys", {"tenant": "local"}))
	refused(ask(["*"], "admin.tenants.read", {"tenant": "acme"}))
}

test_the_process_is_shown_to_the_platforms_own_tenant if {
	every action in ["admin.metrics.read", "admin.settings.read", "admin.tools"] {
		allowed(ask(["admin"], action, {"tenant": "local"}))
		allowed(ask([action], action, {"tenant": "local"}))
		refused(ask(["chat", "admin.bus.read"], action, {"tenant": "local"}))
		refused(ask(["*"], action, {"tenant": "acme"}))
	}
}

test_sharing_needs_chat if {
	allowed(ask(["chat"], "session.share", {"access": "read"}))
	refused(ask(["files:write"], "session.share", {"access": "read"}))
}

test_webhooks_need_chat_and_an_open_destination if {
	allowed(ask(["chat"], "webhook.add", {"destination": "hooks.example.org"}))
	refused(ask(["files:write"], "webhook.add", {"destination": "hooks.example.org"}))
	refused(ask(["*"], "webhook.add", {"destination": "169.254.169.254"}))
	refused(ask(["*"], "webhook.add", {}))
}

test_admin_alone_adds_no_root if {
	refused(ask(["admin"], "admin.roots", {}))
	refused(ask(["admin"], "admin.roots.add", {}))
	allowed(ask(["admin.roots"], "admin.roots", {}))
	allowed(ask(["*"], "admin.roots.add", {}))
}

test_a_cancel_needs_chat if {
	allowed(ask(["chat"], "turn.cancel", {}))
	refused(ask(["files:read"], "turn.cancel", {}))
}

drawing := {
	"tool": "drawing", "provider": "local", "step_type": "generate_diagram", "destination": null, "leaves_machine": false,
	"touched": {"private": false, "untrusted": true, "secret": false}, "cost_tier": "free", "cost_micros": 0,
	"paid": false, "paid_today": 0, "fallback": false, "approved": false, "payload_seen": false, "hitl": "key",
}

buying := object.union(drawing, {
	"provider": "acme", "destination": "example.org", "leaves_machine": true, "cost_tier": "high", "paid": true,
	"touched": {"private": false, "untrusted": false, "secret": false},
})

test_full_prompts_are_kept_only_where_the_settings_say_so if {
	question := ask(["files:write"], "provenance.store_full_prompt", {})
	refused(question)
	allowed(question) with data.settings.full_prompts as true
	refused(ask(["files:read"], "provenance.store_full_prompt", {})) with data.settings.full_prompts as true
}

test_drawing_needs_files_write if {
	allowed(ask(["files:write"], "multimodal.tool.execute", drawing))
	refused(ask(["files:read"], "multimodal.tool.execute", drawing))
}

test_a_paid_capability_ends_with_the_days_quota if {
	allowed(ask(["*"], "multimodal.tool.execute", object.union(buying, {"paid_today": 100})))
	refused(ask(["*"], "multimodal.tool.execute", object.union(buying, {"paid_today": 101})))
}

test_a_candidate_stands_in_only_where_the_settings_allow_it if {
	question := ask(["*"], "multimodal.tool.execute", object.union(buying, {"fallback": true}))
	allowed(question)
	refused(question) with data.settings.multimodal_fallback as false
}

test_words_of_strangers_leave_only_before_a_persons_eyes if {
	marks := {"touched": {"private": true, "untrusted": true, "secret": false}}
	owes(ask(["*"], "multimodal.tool.execute", object.union(buying, marks))) == ["human_sees_payload"]
}
