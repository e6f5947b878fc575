// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

interface Spender {
    function onApprovalReceived(address owner, uint256 value, bytes calldata data) external returns (bytes4);
}

interface Recipient {
    function onTransferReceived(address operator, address from, uint256 value, bytes calldata data) external returns (bytes4);
}

/// OpenZeppelin's ERC-20 with ERC-2612, and ERC-1363, ERC-3009 and the delegation of ERC-5805
/// written from their specifications.
contract Token is ERC20Permit {
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    constructor(address holder) ERC20("Token", "TOK") ERC20Permit("Token") {
        _mint(holder, 1e24);
    }

    mapping(address => address) public delegates;

    function delegate(address delegatee) external {
        delegates[msg.sender] = delegatee;
    }

    function transferAndCall(address to, uint256 value) external returns (bool) {
        return transferAndCall(to, value, "");
    }

    function transferAndCall(address to, uint256 value, bytes memory data) public returns (bool) {
        transfer(to, value);
        require(Recipient(to).onTransferReceived(msg.sender, msg.sender, value, data) == Recipient.onTransferReceived.selector);
        return true;
    }

    function transferFromAndCall(address from, address to, uint256 value) external returns (bool) {
        transferFrom(from, to, value);
        require(Recipient(to).onTransferReceived(msg.sender, from, value, "") == Recipient.onTransferReceived.selector);
        return true;
    }

    function approveAndCall(address spender, uint256 value) external returns (bool) {
        approve(spender, value);
        require(Spender(spender).onApprovalReceived(msg.sender, value, "") == Spender.onApprovalReceived.selector);
        return true;
    }

    bytes32 constant TRANSFER = keccak256("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)");
    bytes32 constant RECEIVE = keccak256("ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)");
    bytes32 constant CANCEL = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    function use(address from, bytes32 nonce, bytes32 digest, uint8 v, bytes32 r, bytes32 s) internal {
        require(!authorizationState[from][nonce] && ecrecover(_hashTypedDataV4(digest), v, r, s) == from);
        authorizationState[from][nonce] = true;
    }

    function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        require(block.timestamp > validAfter && block.timestamp < validBefore);
        use(from, nonce, keccak256(abi.encode(TRANSFER, from, to, value, validAfter, validBefore, nonce)), v, r, s);
        _transfer(from, to, value);
    }

    function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        require(to == msg.sender && block.timestamp > validAfter && block.timestamp < validBefore);
        use(from, nonce, keccak256(abi.encode(RECEIVE, from, to, value, validAfter, validBefore, nonce)), v, r, s);
        _transfer(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        use(authorizer, nonce, keccak256(abi.encode(CANCEL, authorizer, nonce)), v, r, s);
    }

    // The forms of ERC-3009 with the signature as bytes: r, s, v.

    function split(bytes memory signature) internal pure returns (uint8 v, bytes32 r, bytes32 s) {
        require(signature.length == 65);
        assembly {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
    }

    function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature) external {
        (uint8 v, bytes32 r, bytes32 s) = split(signature);
        this.transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, v, r, s);
    }

    function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature) external {
        require(to == msg.sender && block.timestamp > validAfter && block.timestamp < validBefore);
        (uint8 v, bytes32 r, bytes32 s) = split(signature);
        use(from, nonce, keccak256(abi.encode(RECEIVE, from, to, value, validAfter, validBefore, nonce)), v, r, s);
        _transfer(from, to, value);
    }

    function transferFromAndCall(address from, address to, uint256 value, bytes memory data) external returns (bool) {
        transferFrom(from, to, value);
        require(Recipient(to).onTransferReceived(msg.sender, from, value, data) == Recipient.onTransferReceived.selector);
        return true;
    }

    function approveAndCall(address spender, uint256 value, bytes memory data) external returns (bool) {
        approve(spender, value);
        require(Spender(spender).onApprovalReceived(msg.sender, value, data) == Spender.onApprovalReceived.selector);
        return true;
    }

    // The names that tokens used before increaseAllowance.

    function increaseApproval(address spender, uint256 added) external returns (bool) {
        _approve(msg.sender, spender, allowance(msg.sender, spender) + added);
        return true;
    }

    function decreaseApproval(address spender, uint256 removed) external returns (bool) {
        uint256 old = allowance(msg.sender, spender);
        _approve(msg.sender, spender, removed > old ? 0 : old - removed);
        return true;
    }

    // Dai's permit: an unlimited allowance, or none.

    bytes32 constant DAI = keccak256("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");

    function permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s) external {
        require(nonce == _useNonce(holder) && (expiry == 0 || block.timestamp <= expiry));
        require(ecrecover(_hashTypedDataV4(keccak256(abi.encode(DAI, holder, spender, nonce, expiry, allowed))), v, r, s) == holder);
        _approve(holder, spender, allowed ? type(uint256).max : 0);
    }
}
