import { createPhone } from '/phone.js'

/** The phones of the selected user, drawn from the events of the demo. */
export function createPhones({ onSwitch }) {
  const host = document.getElementById('phones')
  const states = new Map()
  /** The operator's reasons for refused pushes, by user. */
  const refusals = new Map()
  let owner
  let shown = new Map()

  setInterval(() => {
    for (const phone of shown.values()) phone.tick()
  }, 5_000)

  return {
    open(brand, user) {
      owner = { brand: brand.id, user_id: user.id, app: brand.name, first: user.name.split(' ')[0] }
      shown = new Map()
      host.replaceChildren()
      const laptop = user.devices.some(({ name }) => name === 'laptop')
      const title = user.devices.length > 1 ? 'devices' : laptop ? 'laptop' : 'phone'
      document.getElementById('phones-title').textContent = `${owner.first}’s ${title}`
      for (const state of states.values()) show(state)
    },
    follow(state) {
      states.set(state.id, state)
      show(state)
    },
    followMessage({ channel, state, brand, user_id, note }) {
      if (channel !== 'push' || state !== 'refused') return
      refusals.set(`${brand}/${user_id}`, note)
      for (const each of states.values()) show(each)
    },
    /** A new run of the demo has new phones. */
    restarted() {
      states.clear()
      refusals.clear()
    },
  }

  function show(state) {
    if (state.brand !== owner.brand || state.user_id !== owner.user_id) return
    let phone = shown.get(state.id)
    if (!phone) {
      phone = createPhone({ owner, state, onSwitch: (online) => onSwitch(state.id, online) })
      shown.set(state.id, phone)
      host.append(phone.element)
    }
    phone.show(state, refusals.get(`${state.brand}/${state.user_id}`))
  }
}
